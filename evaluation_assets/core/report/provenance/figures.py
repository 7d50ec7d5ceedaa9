"""The figures of a report, computed again from verdict rows and the files of the drop, each with its formula.

Nothing here calls the code that writes an averaged table, and only the figures of the gate and the history, which
compare drops, come from one (see `task_means`): a figure that agrees with the report was reached on two ways. An
address names a figure: `drop/criteria/clip/clarity/mean`, `trajectory/<id>/overall`, `clip/<id>/<index>/score`. Names
in it are percent-encoded.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from statistics import fmean

from evaluation_assets.core.report.provenance.evidence import TABLES, Evidence, Level, Origin, Row, Subject
from evaluation_assets.core.report.provenance.figure import (
    Figure,
    address,
    interval,
    known_of,
    rate,
    statistic,
    trials,
    with_tasks,
)
from evaluation_assets.core.report.provenance.section_figures import (
    coding_figures,
    constraint_figures,
    process_figures,
    sampled_figures,
    session_figures,
)
from evaluation_assets.core.report.provenance.suite_figures import suite_figures
from evaluation_assets.core.report.provenance.task_means import gate_figures, history_figures

RIGHT_ANSWER = 0.5

_OF_PANEL = "mean over judges of each judge's mean over its samples with outcome `scored`; null below the quorum"
_OVERALL = "mean over scored clips of the mean over their scored criteria of the panel's score"
NOT_RECOMPUTED: Mapping[str, str] = {
    "clips_asked": "follows from the levels and samples that the panel chooses, not from verdicts",
    "panel": "compares judges with each other; the table `panel_reliability` has the rows",
    "headline/score": "repeats `process/mean` where rules alone judged, else `overall/mean`; these are recomputed",
    "headline/change": "compares with the baseline, as `gate`",
    "gate/tests": "are results of tests, or settings of the gate; `gate DROP` repeats the comparison",
    "gate/fallen_tasks": "are rows of the table `task_metrics` beside the values of the baseline",
    "gate/improved_tasks": "are rows of the table `task_metrics` beside the values of the baseline",
    "findings": "counts runs with rows of the table `findings`, each of which has its place and evidence",
    "claims": "counts rows of the table `claims`, each of which has its place and quotation",
    "failure_groups": "counts runs of this and other drops; the table `grouped_findings` has each with its evidence",
    "agent_ranks": "describes other drops of the suite",
    "tool_use/min_pass_rate": "is a setting of the suite",
    "tool_use/weights": "are settings of the suite",
    "sessions/sessions": "are rows of the table `session_analyses`, whole; their summary is recomputed",
    "reading": "counts what the reader noted while it read; `import FILE` repeats it",
    "records/flags": "counts the flags of the run and of the rules, which the report lists by trajectory",
    "rejected": "lists rows of the table `rejected_records`; their number is `records/total` less `records/kept`",
    "repairs": "lists tags with their places in the text",
    "judges/errors": "counts errors by their kind; each verdict states its error",
    "sidecar": "is written by people",
}
"""Figures of a report that are not recomputed here, by the beginning of their address, with the reason."""


def figures(evidence: Evidence) -> dict[str, Figure]:
    """All figures of a drop by their addresses."""
    return {figure.address: figure for figure in _Figures(evidence).all()}


def panel_score(by_judge: Mapping[str, Sequence[float]], quorum: int) -> float | None:
    """The panel's score of a subject on a criterion: each judge counts once, however often it was asked."""
    means = [fmean(samples) for samples in by_judge.values() if samples]
    return fmean(means) if len(means) >= max(quorum, 1) else None


class _Figures:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._clips = {
            (origin.id, clip.index): self._panel("clip", (origin.id, clip.index))
            for origin in evidence.origins
            for clip in origin.clips
        }
        self._own = {origin.id: self._scores_of(origin) for origin in evidence.origins}
        self._overall = {origin.id: self._overall_of(origin) for origin in evidence.origins}

    def all(self) -> Iterator[Figure]:
        yield from self._records()
        yield from self._outcomes()
        about = "overall scores of trajectories"
        yield from statistic(("drop", "overall"), self._overall.values(), about, _ROWS_CLIP, self._tasks())
        yield from self._criteria()
        yield from self._tools()
        for judge in self._evidence.judges:
            yield from self._judge(judge)
        for origin in self._evidence.origins:
            yield from self._trajectory(origin)
        yield from self._sections()

    def _sections(self) -> Iterator[Figure]:
        evidence = self._evidence
        yield from process_figures(evidence.runs.process)
        if evidence.runs.suite is not None:
            yield from suite_figures(evidence.runs.suite)
        if evidence.runs.constraints:
            yield from constraint_figures(evidence.runs.constraints)
        if evidence.runs.coding:
            yield from coding_figures(evidence.runs.coding)
        task_of = {origin.id: origin.task_id for origin in evidence.origins}
        yield from session_figures(evidence.sessions, task_of)
        known: dict[str, list[bool]] = {}
        for origin in evidence.origins:
            if origin.success is not None:
                known.setdefault(origin.task_id, []).append(origin.success)
        outcomes = {task: fmean(own) for task, own in known.items()}
        yield from gate_figures(evidence.tasks, outcomes)
        yield from history_figures(evidence.tasks, outcomes)
        for judge, level in evidence.sampled:
            own = evidence.verdicts["clip" if level == "clip" else "trajectory"].get(judge, {})
            about = [rows for (_, subject), rows in own.items() if level == "clip" or subject == level]
            verdicts = [row for rows in about for row in rows]
            yield from sampled_figures(judge, level, verdicts, len(evidence.origins))

    def _panel(self, level: Level, subject: Subject) -> dict[str, float | None]:
        scores = self._evidence.scores_of(level, subject)
        quorum = self._evidence.quorum_of(level, subject[0])
        return {criterion: panel_score(by_judge, quorum) for criterion, by_judge in scores.items()}

    def _scores_of(self, origin: Origin) -> dict[str, float | None]:
        own = self._panel("trajectory", (origin.id, "trajectory"))
        if origin.has_answer:
            answer = self._panel("trajectory", (origin.id, "answer"))
            own |= {f"answer.{criterion}": score for criterion, score in answer.items()}
        return own

    def _overall_of(self, origin: Origin) -> float | None:
        scores = [known for clip in origin.clips if (known := known_of(self._clips[origin.id, clip.index].values()))]
        return fmean(map(fmean, scores)) if scores else None

    def _records(self) -> Iterator[Figure]:
        evidence = self._evidence
        kept, total = len(evidence.origins), len(evidence.origins) + sum(evidence.rejected.values())
        read = "records of the drop's files, read again"
        for name, value, formula in (
            ("total", total, "number of records: kept, removed by preprocessing rules, and unreadable"),
            ("kept", kept, "number of records that are evaluated"),
            ("kept_share", kept / total if total else None, "kept records divided by all records"),
            ("repaired", evidence.repaired, "number of kept records into which closing tags were inserted"),
        ):
            yield Figure(address("drop", "records", name), value, total, formula, read)
        for name, value in (("rejected_total", total - kept), ("trajectories_total", kept)):
            yield Figure(address("drop", name), value, total, "number of records", read)
        tasks = len({origin.task_id for origin in evidence.origins})
        yield Figure(address("drop", "tasks_total"), tasks, kept, "number of tasks of the kept records", read)
        formula = "number of unbalanced tags in kept records"
        yield Figure(address("drop", "repairs_total"), evidence.repairs, kept, formula, read)
        for reason, count in evidence.rejected.items():
            stage = "removed" if reason in ("frequency", "duplicates") else "unreadable"
            formula = f"number of records with the reason {reason}"
            yield Figure(address("drop", "records", stage, reason), count, total, formula, read)
        clips = [(origin.id, clip.index) for origin in evidence.origins for clip in origin.clips]
        scored = sum(bool(known_of(self._clips[clip].values())) for clip in clips)
        cut = "clips of the trajectories, cut again from the drop's files"
        yield Figure(address("drop", "total_clips"), len(clips), kept, "number of clips", cut)
        formula = "number of clips with a panel score on at least one criterion"
        yield Figure(address("drop", "scored_clips"), scored, len(clips), formula, _ROWS_CLIP)

    def _outcomes(self) -> Iterator[Figure]:
        evidence = self._evidence
        known = [origin.success for origin in evidence.origins if origin.success is not None]
        rows = "outcomes recorded in the drop's files, read again"
        formula = "number of evaluated trajectories that the source recorded as successful"
        yield Figure(address("drop", "recorded_success"), sum(known), len(known), formula, rows)
        formula = "number of evaluated trajectories with a recorded outcome"
        yield Figure(address("drop", "recorded_outcomes"), len(known), len(evidence.origins), formula, rows)
        yield from rate("success", evidence.outcomes, evidence.readable, rows)
        tasks = list(evidence.outcomes.values())
        if min(map(len, tasks), default=0) > 1:
            yield from trials(("drop", "recorded_trials"), tasks, "succeeded", rows)
        right: dict[str, list[bool]] = {}
        for origin in evidence.origins:
            if (agreement := self._own[origin.id].get("answer_correctness")) is not None:
                right.setdefault(origin.task_id, []).append(agreement >= RIGHT_ANSWER)
        yield from rate("right_answer", right, len(evidence.origins), _rows_of("trajectory"))

    def _criteria(self) -> Iterator[Figure]:
        values: dict[tuple[str, str], list[tuple[float | None, str]]] = {}
        for origin in self._evidence.origins:
            task = origin.task_id
            for criterion, value in self._own[origin.id].items():
                name = criterion.removeprefix("answer.")
                level = "trajectory" if name == criterion else "answer"
                values.setdefault((level, name), []).append((value, task))
            for category in dict.fromkeys(clip.tool_type for clip in origin.clips if not clip.is_final):
                for criterion, value in self._panel("category", (origin.id, category)).items():
                    values.setdefault(("category", criterion), []).append((value, task))
            for clip in origin.clips:
                for criterion, value in self._clips[origin.id, clip.index].items():
                    values.setdefault(("clip", criterion), []).append((value, task))
        tables: Mapping[str, Level] = {"clip": "clip", "category": "category"}
        for (level, criterion), found in values.items():
            about = f"panel scores of each {level} on {criterion} ({_OF_PANEL})"
            rows = _rows_of(tables.get(level, "trajectory"))
            scores, tasks = zip(*found, strict=True)
            yield from statistic(("drop", "criteria", level, criterion), scores, about, rows, tasks)

    def _tools(self) -> Iterator[Figure]:
        task_of = {origin.id: origin.task_id for origin in self._evidence.origins}
        by_tool: dict[str, list[tuple[str, int, str, bool]]] = {}
        for origin in self._evidence.origins:
            for clip in origin.clips:
                place = (origin.id, clip.index, clip.call_status, clip.is_final)
                by_tool.setdefault(clip.tool_type, []).append(place)
        for tool, clips in by_tool.items():
            criteria: dict[str, tuple[list[float | None], list[str]]] = {}
            of_clips: list[float | None] = []
            for trajectory, index, _, _ in clips:
                own = self._clips[trajectory, index]
                for criterion, value in own.items():
                    values, tasks = criteria.setdefault(criterion, ([], []))
                    values.append(value)
                    tasks.append(task_of[trajectory])
                of_clips.append(fmean(given) if (given := known_of(own.values())) else None)
            scored = sum(bool(known_of(self._clips[trajectory, index].values())) for trajectory, index, _, _ in clips)
            of_tasks = [task_of[trajectory] for trajectory, *_ in clips]
            at = ("drop", "tools", tool)
            cut = f"clips of tool type {tool}, cut again from the drop's files"
            yield Figure(address(*at, "clip_count"), len(clips), len(clips), "number of clips", cut)
            formula = "number of clips with a panel score on at least one criterion"
            yield Figure(address(*at, "scored_clips"), scored, len(clips), formula, _ROWS_CLIP)
            known = known_of(of_clips)
            yield Figure(address(*at, "overall"), fmean(known) if known else None, scored, _OVERALL, _ROWS_CLIP)
            if known:
                yield from interval(at, with_tasks(of_clips, of_tasks), f"overall score of {tool}", _ROWS_CLIP)
            about = f"scores of clips of {tool}, each the mean of its scored criteria"
            yield from statistic((*at, "scores"), of_clips, about, _ROWS_CLIP, of_tasks)
            for status, count in Counter(status for _, _, status, is_final in clips if not is_final).items():
                formula = f"number of calls that ended with {status}"
                yield Figure(address(*at, "calls", status), count, len(clips), formula, cut)
            for criterion, (values, tasks) in criteria.items():
                about = f"panel scores of clips of {tool} on {criterion} ({_OF_PANEL})"
                yield from statistic((*at, "criteria", criterion), values, about, _ROWS_CLIP, tasks)

    def _judge(self, judge: str) -> Iterator[Figure]:
        rows: dict[Level, list[Row]] = {
            level: [row for of_subject in by_judge[judge].values() for row in of_subject]
            for level, by_judge in self._evidence.verdicts.items()
            if judge in by_judge
        }
        every = [row for found in rows.values() for row in found]
        at, source = ("drop", "judges", judge), f"rows of {judge} in all tables of verdicts, canary clips included"
        replies = _each_reply_once(every)
        for column in ("cost_usd", "input_tokens", "output_tokens"):
            known = [row[column] for row in replies if row[column] is not None]
            total = fsum(known) if known and column == "cost_usd" else sum(known) if known else None
            formula = f"sum of `{column}` over the verdicts that have it, once for each reply; null if none has"
            yield Figure(address(*at, column), total, len(known), formula, source)
        asked = [row for row in every if row["outcome"] != "not_run"]
        for name, column in (("unpriced_verdicts", "cost_usd"), ("uncounted_verdicts", "input_tokens")):
            missing = sum(row[column] is None for row in asked)
            formula = f"number of verdicts without `{column}`, less those with outcome `not_run`"
            yield Figure(address(*at, name), missing, len(asked), formula, source)
        of_drop = [row for level, found in rows.items() if level != "canary" for row in found]
        seen = [row["share_seen"] for row in of_drop if row["share_seen"] is not None]
        formula = "mean of `share_seen` over the verdicts that have it"
        yield Figure(
            address(*at, "share_seen"),
            fmean(seen) if seen else None,
            len(seen),
            formula,
            f"rows of {judge} on the drop",
        )
        for level, found in rows.items():
            for outcome, count in Counter(row["outcome"] for row in found).items():
                formula = f"number of verdicts with outcome `{outcome}`"
                place = address(*at, "outcomes", level, outcome)
                yield Figure(place, count, len(found), formula, f"{TABLES[level]}/{judge}")

    def _trajectory(self, origin: Origin) -> Iterator[Figure]:
        at = ("trajectory", origin.id)
        yield Figure(address(*at, "overall"), self._overall[origin.id], len(origin.clips), _OVERALL, _ROWS_CLIP)
        for criterion, value in self._own[origin.id].items():
            name = criterion.removeprefix("answer.")
            subject = "trajectory" if name == criterion else "answer"
            n = len(self._evidence.scores_of("trajectory", (origin.id, subject))[name])
            yield Figure(address(*at, "scores", criterion), value, n, _OF_PANEL, _rows_of("trajectory"))
        read = "the record in the drop's file, read again"
        yield Figure(address(*at, "n_tool_calls"), origin.n_tool_calls, 1, "number of tool calls", read)
        yield Figure(address(*at, "success"), origin.success, 1, "outcome recorded by the source", read)
        for clip in origin.clips:
            scores = self._clips[origin.id, clip.index]
            known = known_of(scores.values())
            place = address("clip", origin.id, clip.index, "score")
            formula = f"mean over criteria of the panel's score ({_OF_PANEL})"
            yield Figure(place, fmean(known) if known else None, len(known), formula, _ROWS_CLIP)

    def _tasks(self) -> list[str]:
        return [origin.task_id for origin in self._evidence.origins]


def _rows_of(level: Level) -> str:
    return f"{TABLES[level]}/<judge>"


_ROWS_CLIP = _rows_of("clip")


def _each_reply_once(verdicts: Iterable[Row]) -> list[Row]:
    """Verdicts with the first of those that one reply gave: the same question asked twice is paid once."""
    found: dict[object, Row] = {}
    for number, row in enumerate(verdicts):
        found.setdefault(row["ledger_key"] or number, row)
    return list(found.values())
