"""`explain`: from a figure of a report back to what it comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import click

from evaluation_assets.cli.evaluated import check_run, refuse_without_report
from evaluation_assets.cli.key_mask import mask_of_keys
from evaluation_assets.cli.options import text_or_json, with_home
from evaluation_assets.cli.output import echo, echo_json, refuse
from evaluation_assets.core.intake.clips.tool_types import FINAL
from evaluation_assets.core.intake.drops import InvalidDrop, find
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import judges_of, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.provenance.prompts import prompts_behind
from evaluation_assets.core.report.provenance.sources import place_of
from evaluation_assets.core.report.provenance.stated import Figure, scores_of, stated_figures
from evaluation_assets.core.report.provenance.verdicts import Verdict, criteria_of, verdicts_behind
from evaluation_assets.core.report.search.run_conditions import OUTCOMES, outcomes_of
from evaluation_assets.core.report.stored_report import stored_report
from evaluation_assets.core.sections.findings.summary import SEVERITIES, kinds_title
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.excerpts import without_middle
from evaluation_assets.core.text.masking import masked
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_LONGEST = 400
"""Characters shown of a text without `--full`."""

_HEADLINE = "drop/headline/"

_CLIP = ("clip_index", "tool_type", "start", "end")

_FINDING = (
    *("kind", "severity", "turn", "interaction", "step", "agent_id", "tool", "clip_index", "start", "end", "evidence"),
    *("detector", "detector_version"),
)

_OTHER_PROMPT = "not known: panel, rubrics or prompts are others than when it was sent"


@click.command("explain")
@click.argument("drop")
@click.argument("trajectory", metavar="[RUN]", required=False)
@click.argument("criterion", required=False)
@click.option(
    "--full", is_flag=True, help="Print all figures, bytes and digests, and reasoning, prompts and replies whole."
)
@text_or_json
@with_home
def explain(
    home: Installation, drop: str, trajectory: str | None, criterion: str | None, full: bool, format_name: str
) -> None:
    """Show what a figure of a report comes from.

    With DROP, print the main figures of the report with their formulas, and the tables they come from.

    With RUN, print what went wrong in it, its scores, and its record.

    With CRITERION (or `overall`), print the verdicts behind it, with the prompts and replies of models.
    """
    document = masked(_document(home, drop, trajectory, criterion), mask_of_keys(home))
    if format_name == "json":
        echo_json(document)
    else:
        echo(*_lines(document, full))


def _document(home: Installation, drop: str, trajectory: str | None, criterion: str | None) -> dict[str, Any]:
    file = report_files(home.reports(drop), drop).json
    if not file.exists():
        refuse_without_report(home, drop, home.drops_with("trajectory_scores"))
    report = stored_report(file).model_dump(mode="json")
    document: dict[str, Any] = {"drop": drop, "trajectory": trajectory, "criterion": criterion}
    if trajectory is None:
        shown = stated_figures(report)
    else:
        shown = _scores(home, drop, trajectory, criterion)
        document["outcome"] = OUTCOMES[outcomes_of(home, drop).get(trajectory)]
        document["findings"] = _findings(home, drop, trajectory)
        document["source"] = _source(home, drop, trajectory)
        document["clips"] = [
            {name: row[name] for name in _CLIP}
            for row in home.table(drop, "clips").rows(["trajectory_id", *_CLIP])
            if row["trajectory_id"] == trajectory
        ]
        if criterion is not None:
            document["verdicts"] = _verdicts(home, drop, trajectory, criterion, report)
    document["figures"] = [asdict(figure) for figure in shown]
    document["repeat"] = _repeat(home, drop, report["comparability"])
    return document


def _scores(home: Installation, drop: str, trajectory: str, criterion: str | None) -> Iterator[Figure]:
    means: dict[str, dict[str, float | None]] = {}
    for row in home.table(drop, "trajectory_scores").rows(["trajectory_id", "criterion", "mean"]):
        means.setdefault(row["trajectory_id"], {})[row["criterion"]] = row["mean"]
    check_run(home, drop, trajectory, means)
    asked = {name: mean for name, mean in means[trajectory].items() if criterion in (None, name)}
    return scores_of(trajectory, asked)


def _findings(home: Installation, drop: str, trajectory: str) -> list[dict[str, Any]]:
    """The findings of a run, gravest first, as on its page."""
    rows = home.table(drop, "findings").rows(["trajectory_id", *_FINDING])
    own = [{"title": kinds_title(row["kind"]), **row} for row in rows if row["trajectory_id"] == trajectory]
    return sorted(own, key=lambda row: SEVERITIES.index(row["severity"]))


def _source(home: Installation, drop: str, trajectory: str) -> dict[str, Any] | None:
    rows = home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", *TREE_AND_TEXT])
    source = next(trajectory_of(row).source for row in rows if row["trajectory_id"] == trajectory)
    if source is None:
        return None
    content = DropFacts.of(home.table(drop, "raw_trajectories")).content
    try:
        return asdict(place_of(find(home.drops, drop), source, content))
    except (InvalidDrop, UnreadableDrop) as problem:
        refuse(f"the record of {trajectory!r} cannot be read: {problem}")


def _verdicts(
    home: Installation, drop: str, trajectory: str, criterion: str, report: Mapping[str, Any]
) -> list[dict[str, Any]]:
    known = criteria_of(home, drop, trajectory, [judge["judge"] for judge in report["judges"]])
    if criterion not in known:
        hint = did_you_mean(criterion, known, f"choose one of: {', '.join(known)}")
        refuse(f"no verdict on {trajectory!r} is about {criterion!r}; {hint}")
    verdicts = verdicts_behind(home, drop, trajectory, criterion, report["comparability"])
    prompts = _prompts(home, drop, trajectory, [verdict for verdict in verdicts if verdict.row["ledger_key"]])
    return [
        {
            "table": verdict.table,
            "level": verdict.level,
            "subject": verdict.subject,
            "judge_version": verdict.judge_version,
            "scores": dict(verdict.scores),
            **verdict.row,
            "prompt": prompts.get(verdict.row["ledger_key"]),
            "reply": verdict.reply,
        }
        for verdict in verdicts
    ]


def _prompts(home: Installation, drop: str, trajectory: str, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The prompts of model judges, by key in the ledger; made again, so those of other settings are missing."""
    asked = {verdict.row["judge"] for verdict in verdicts}
    rubrics, panel = load_rubrics(home.rubrics), load_panel(home.panel_file)
    judges = [
        judge
        for judge in (judges_of(panel, home.ledger_url) if asked else [])
        if judge.name in asked and isinstance(judge, ModelJudge | EvaluatorJudge)
    ]
    return prompts_behind(home, drop, trajectory, sorted({verdict.level for verdict in verdicts}), judges, rubrics)


def _repeat(home: Installation, drop: str, settings: Mapping[str, str]) -> str:
    """The command that evaluates the drop again; replies in the ledger are not paid for twice."""
    standard = asdict(Settings())
    used = {name: settings.get(f"preprocessing {name}") for name in standard}
    changed = {name: value for name, value in used.items() if value not in (None, str(standard[name]))}
    given = [word for name, value in changed.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    return home.command("evaluate", drop, *given)


def _lines(document: Mapping[str, Any], full: bool) -> Iterator[str]:
    if document["trajectory"] is not None and document["criterion"] is None:
        yield from _finding_lines(document)
    shown = [each for each in document["figures"] if full or document["trajectory"] or _is_main(each["address"])]
    shown.sort(key=lambda each: not each["address"].startswith(_HEADLINE))
    for rows, figures in groupby(shown, key=lambda each: each["rows"]):
        yield f"from {rows}"
        for formula, alike in groupby(figures, key=lambda each: each["formula"]):
            yield from (f"  {figure['address']} = {_number(figure['value'])}" for figure in alike)
            yield f"    {formula}"
    if left := len(document["figures"]) - len(shown):
        yield f"{counted(left, 'more figure')}, of tools, criteria and other sections: --full prints them"
    for verdict in document.get("verdicts", ()):
        yield from _verdict_lines(verdict, document["clips"], full)
    if (source := document.get("source")) is not None:
        yield from _source_lines(source, full)
    yield f"repeat: {document['repeat']}"


def _finding_lines(document: Mapping[str, Any]) -> Iterator[str]:
    findings = document["findings"]
    told = counted(len(findings), "finding") if findings else "nothing was found"
    yield f"run {document['trajectory']}: outcome {document['outcome']}, {told}"
    final = next((clip["clip_index"] for clip in document["clips"] if clip["tool_type"] == FINAL), None)
    for each in findings:
        clip, tool = each["clip_index"], "" if each["tool"] is None else f", {each['tool']}"
        place = "the whole run" if clip is None else f"clip {clip}{', the end' if clip == final else ''}"
        yield f"  {each['severity']:<6}  {each['kind']}: {place}{tool}, by {each['detector']}"
        yield " " * 10 + (each["evidence"] if each["start"] is None else f"“{each['evidence']}”")


def _is_main(place: str) -> bool:
    """Whether a figure is of the headline, a total of the drop, or a mean over it."""
    return place.startswith(_HEADLINE) or place.count("/") == 1 or (place.count("/") == 2 and place.endswith("/mean"))


def _verdict_lines(verdict: Mapping[str, Any], clips: Sequence[Mapping[str, Any]], full: bool) -> Iterator[str]:
    yield f"{verdict['table']}, {verdict['subject']}, sample {verdict['sample']}: {verdict['outcome']}"
    if verdict["level"] == "clip":
        clip = next((each for each in clips if f"clip {each['clip_index']}" == verdict["subject"]), None)
        if clip is not None:
            yield f"  clip       characters {clip['start']} to {clip['end']} of the text, {clip['tool_type']}"
    scores = ", ".join(f"{name} {_number(score)}" for name, score in verdict["scores"].items())
    tokens = ", ".join(
        f"{verdict[name]} {name.removesuffix('_tokens')}"
        for name in ("input_tokens", "cached_tokens", "output_tokens")
        if verdict[name] is not None
    )
    cost = None if verdict["cost_usd"] is None else f"{verdict['cost_usd']:.6f} USD"
    for name, value in (
        ("scores", scores),
        ("judge", verdict["judge_version"]),
        ("served by", verdict["served_model"]),
        ("rubric", f"{verdict['rubric']} {verdict['rubric_version']}"),
        ("summary", verdict["summary"]),
        ("reasoning", verdict["reasoning"]),
        ("error", verdict["error"]),
        ("price", cost),
        ("tokens", tokens),
        ("ledger", verdict["ledger_key"]),
        ("prompt", verdict["prompt"] or (verdict["ledger_key"] and _OTHER_PROMPT)),
        ("reply", verdict["reply"]),
    ):
        value = value or ""
        for number, line in enumerate((value if full or len(value) <= _LONGEST else _cut(value)).splitlines()):
            yield f"  {'' if number else name:10} {line}"


def _source_lines(source: Mapping[str, Any], full: bool) -> Iterator[str]:
    changed = "" if source["is_unchanged"] else "; the drop has CHANGED since it was read: evaluate it again"
    yield f"source: {source['file']}, record {source['line']}{changed}"
    if full:
        exact = source["extent"] == "record"
        where = "the record" if exact else "the whole file; the record is read from it, or joined from several"
        yield f"  bytes      {source['start']} to {source['end']}: {where}"
        yield f"  sha256     {source['sha256']}"
        yield f"  file       {source['file_sha256']}"


def _cut(text: str) -> str:
    return without_middle(text, _LONGEST // 2, _LONGEST // 2, "[… {} characters, shown with --full …]")


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
