"""`explain`: from a figure of a report back to what it comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from shlex import quote
from typing import Any

import click

from evaluation_assets.cli.evaluated import refuse_without_report
from evaluation_assets.cli.key_mask import mask_of_keys, masked
from evaluation_assets.cli.options import text_or_json, with_home
from evaluation_assets.cli.output import echo, echo_json, refuse
from evaluation_assets.core.gating.baselines import InvalidBaseline
from evaluation_assets.core.intake.clips.tool_types import InvalidToolTypes
from evaluation_assets.core.intake.drops import InvalidDrop
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import judges_of, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.provenance.evidence import Evidence, Origin
from evaluation_assets.core.report.provenance.figure import Figure, address
from evaluation_assets.core.report.provenance.figures import NOT_RECOMPUTED, figures
from evaluation_assets.core.report.provenance.prompts import prompts_behind
from evaluation_assets.core.report.provenance.reported import differences
from evaluation_assets.core.report.provenance.sources import place_of
from evaluation_assets.core.report.provenance.verdicts import Verdict, criteria_of, verdicts_behind
from evaluation_assets.core.report.stored_report import stored_report
from evaluation_assets.core.sections.constraints.settings import InvalidChecks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.excerpts import without_middle
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.core.traces.formats.base import UnreadableDrop

_LONGEST = 400
"""Characters shown of a text without `--full`."""

_DEPTH = 3
"""Parts after `drop` from which an address is of a part of the drop, as in `drop/tools/search/n_clips`."""

_HEADLINE = "drop/headline/"

_OTHER_PROMPT = "not known: panel, rubrics or prompts are others than when it was sent"


@dataclass(frozen=True, slots=True)
class _Explained:
    """What is known about a drop: its report as it was written, and its figures as they come out now."""

    home: Installation
    drop: str
    report: Mapping[str, Any]
    evidence: Evidence
    figures: Mapping[str, Figure]


@click.command("explain")
@click.argument("drop")
@click.argument("trajectory", required=False)
@click.argument("criterion", required=False)
@click.option("--full", is_flag=True, help="Print all figures, and reasoning, prompts and replies whole.")
@text_or_json
@with_home
def explain(
    home: Installation, drop: str, trajectory: str | None, criterion: str | None, full: bool, format_name: str
) -> None:
    """Show what a figure of a report comes from.

    With DROP, print the main figures of the report with their formulas, recomputed from verdicts and the drop's files.

    With TRAJECTORY, print its scores, and where it is in the drop's files.

    With CRITERION (or `overall`), print the verdicts behind it, with the prompts and replies of models.
    """
    explained = _explained(home, drop)
    document = _document(explained, trajectory, criterion)
    document = masked(document, mask_of_keys(home))
    if format_name == "json":
        echo_json(document)
    else:
        echo(*_lines(document, full))


def _explained(home: Installation, drop: str) -> _Explained:
    file = report_files(home.reports(drop), drop).json
    if not file.exists():
        refuse_without_report(home, drop, home.drops_with("trajectory_scores"))
    report = stored_report(file).model_dump(mode="json")
    try:
        evidence = Evidence.of(home, drop, report)
    except (InvalidDrop, UnreadableDrop, InvalidToolTypes, InvalidChecks, InvalidBaseline) as problem:
        refuse(f"the figures of {drop!r} cannot be traced to its files: {problem}")
    return _Explained(home, drop, report, evidence, figures(evidence))


def _document(explained: _Explained, trajectory: str | None, criterion: str | None) -> dict[str, Any]:
    stated = differences(explained.report, explained.figures)
    document: dict[str, Any] = {"drop": explained.drop, "trajectory": trajectory, "criterion": criterion}
    prefix = "drop/"
    if trajectory is not None:
        origin = _origin(explained, trajectory)
        prefix = f"{address('trajectory', origin.id)}/"
        document["source"] = _source(explained, origin)
        document["clips"] = [
            {"index": clip.index, "tool_type": clip.tool_type, "start": clip.start, "end": clip.end}
            for clip in origin.clips
        ]
        if criterion is not None:
            document["verdicts"] = _verdicts(explained, origin, criterion)
    shown = [figure for place, figure in explained.figures.items() if place.startswith(prefix)]
    if criterion is not None:
        ends = (f"/scores/{criterion}", f"/{criterion}")
        shown = [figure for figure in shown if figure.address.endswith(ends)]
    document["figures"] = [asdict(figure) for figure in shown]
    document["differences"] = [
        {"address": place, "report": report, "recomputed": now}
        for place, (report, now) in stated.items()
        if place.startswith(prefix)
    ]
    if trajectory is None:
        document["not_recomputed"] = dict(NOT_RECOMPUTED)
    document["repeat"] = _repeat(explained)
    return document


def _origin(explained: _Explained, trajectory: str) -> Origin:
    origins = {origin.id: origin for origin in explained.evidence.origins}
    if trajectory not in origins:
        hint = did_you_mean(trajectory, origins, f"it has {len(origins)}, listed in the report")
        refuse(f"{explained.drop!r} has no trajectory {trajectory!r}; {hint}")
    return origins[trajectory]


def _source(explained: _Explained, origin: Origin) -> dict[str, Any] | None:
    if origin.source is None:
        return None
    content = DropFacts.of(explained.home.table(explained.drop, "raw_trajectories")).content
    return asdict(place_of(explained.evidence.drop, origin.source, content))


def _verdicts(explained: _Explained, origin: Origin, criterion: str) -> list[dict[str, Any]]:
    home, drop = explained.home, explained.drop
    known = criteria_of(home, drop, origin, explained.evidence.judges)
    if criterion not in known:
        hint = did_you_mean(criterion, known, f"choose one of: {', '.join(known)}")
        refuse(f"no verdict on {origin.id!r} is about {criterion!r}; {hint}")
    found = verdicts_behind(home, drop, origin, criterion, explained.report["comparability"])
    prompts = _prompts(home, drop, origin, [verdict for verdict in found if verdict.row["ledger_key"]])
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
        for verdict in found
    ]


def _prompts(home: Installation, drop: str, origin: Origin, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The prompts of model judges, by key in the ledger; made again, so those of other settings are missing."""
    asked = {verdict.row["judge"] for verdict in verdicts}
    rubrics, panel = load_rubrics(home.rubrics), load_panel(home.panel_file)
    judges = [
        judge
        for judge in (judges_of(panel, home.ledger_url) if asked else [])
        if judge.name in asked and isinstance(judge, ModelJudge | EvaluatorJudge)
    ]
    return prompts_behind(home, drop, origin.id, sorted({verdict.level for verdict in verdicts}), judges, rubrics)


def _repeat(explained: _Explained) -> str:
    """The command that evaluates the drop again; replies in the ledger are not paid for twice."""
    settings = explained.report["comparability"]
    options = {
        "--beta-threshold": settings.get("preprocessing beta_threshold"),
        "--on-violation": settings.get("preprocessing on_violation"),
        "--home": str(explained.home.root),
    }
    given = " ".join(f"{name} {quote(value)}" for name, value in options.items() if value)
    return f"evaluation-assets evaluate {quote(explained.drop)} {given}"


def _lines(document: Mapping[str, Any], full: bool) -> Iterator[str]:
    shown = [each for each in document["figures"] if full or document["trajectory"] or _is_main(each["address"])]
    for figure in sorted(shown, key=lambda each: not each["address"].startswith(_HEADLINE)):
        yield f"{figure['address']} = {_number(figure['value'])}   n {figure['n']}"
        yield f"  {figure['formula']}"
        yield f"  from {figure['rows']}"
    if left := len(document["figures"]) - len(shown):
        yield f"{counted(left, 'more figure')}, of tools, criteria and other sections: --full prints them"
    yield from _differences(document["differences"])
    for verdict in document.get("verdicts", ()):
        yield from _verdict_lines(verdict, document["clips"], full)
    if (source := document.get("source")) is not None:
        yield from _source_lines(source)
    for place, why in document.get("not_recomputed", {}).items():
        yield f"not recomputed: {place}: {why}"
    yield f"repeat: {document['repeat']}"


def _is_main(place: str) -> bool:
    """Whether a figure is of the drop as a whole, not of a part of it such as a tool, or of a histogram."""
    return place.startswith(_HEADLINE) or (place.count("/") < _DEPTH and "/tenths/" not in place)


def _differences(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in found:
        stated, now = _number(each["report"]), _number(each["recomputed"])
        yield f"DIFFERS: {each['address']}: the report states {stated}, its evidence gives {now}"
    if not found:
        yield "All of these figures are as the report states them."


def _verdict_lines(verdict: Mapping[str, Any], clips: Sequence[Mapping[str, Any]], full: bool) -> Iterator[str]:
    yield f"{verdict['table']}, {verdict['subject']}, sample {verdict['sample']}: {verdict['outcome']}"
    if verdict["level"] == "clip":
        clip = next((each for each in clips if f"clip {each['index']}" == verdict["subject"]), None)
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
        if value:
            yield f"  {name:10} {value if full or len(value) <= _LONGEST else _cut(value)}"


def _source_lines(source: Mapping[str, Any]) -> Iterator[str]:
    exact = source["extent"] == "record"
    yield f"source: {source['file']}, record {source['line']}"
    where = "the record" if exact else "the whole file; the record is read from it, or joined from several"
    yield f"  bytes      {source['start']} to {source['end']}: {where}"
    yield f"  sha256     {source['sha256']}"
    yield f"  file       {source['file_sha256']}"
    kept = "unchanged since it was read" if source["is_unchanged"] else "CHANGED since it was read; evaluate it again"
    yield f"  drop       {kept}"


def _cut(text: str) -> str:
    return without_middle(text, _LONGEST // 2, _LONGEST // 2, "[… {} characters, shown with --full …]")


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
