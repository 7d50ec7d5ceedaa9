"""The figures of a report, computed again from verdict rows and the files of the drop.

Nothing here calls the code that writes an averaged table, and only the figures of the gate and the history, which
compare drops, come from one (see `task_means`): a figure that agrees with the report comes out of two computations. An
address names a figure: `drop/criteria/clip/clarity/mean`, `trajectory/<id>/overall`, `clip/<id>/<index>/score`. Names
in it are percent-encoded.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isclose
from statistics import fmean
from typing import Any

import orjson

from evaluation_assets.core.gating.task_metrics import FINDING
from evaluation_assets.core.report.provenance.stated import Value, address, numbers_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.recomputed.evidence import Evidence, Origin, Row, Subject, TableLevel
from evaluation_assets_tests.recomputed.figure import (
    Figures,
    at_place,
    interval,
    known_of,
    mean_of,
    rate,
    statistic,
    trials,
    with_tasks,
)
from evaluation_assets_tests.recomputed.section_figures import (
    coding_figures,
    constraint_figures,
    process_figures,
    sampled_figures,
    session_figures,
)
from evaluation_assets_tests.recomputed.suite_figures import suite_figures
from evaluation_assets_tests.recomputed.task_means import gate_figures, history_figures

RIGHT_ANSWER = 0.5

_COMPARED = frozenset({"baseline", "current", "difference", "n_tasks"})
"""The figures of the gate that are means over tasks."""

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


def figures(evidence: Evidence) -> dict[str, Value]:
    """All figures of a drop by their addresses."""
    return dict(_Figures(evidence).all())


def reported_figures(report: Mapping[str, Any]) -> dict[str, Value]:
    """All figures in the JSON of a report, without those of `NOT_RECOMPUTED`."""
    found: dict[str, Value] = {}
    for row in report["trajectories"]:
        at = ("trajectory", row["trajectory_id"])
        found |= {address(*at, name): row[name] for name in ("overall", "n_tool_calls", "success")}
        found |= {address(*at, "scores", criterion): value for criterion, value in row["scores"].items()}
    for row in report["worst_clips"]:
        found[address("clip", row["trajectory_id"], row["clip_index"], "score")] = row["score"]
    return found | {place: value for place, value in numbers_of(report).items() if why_not_recomputed(place) is None}


def differences(report: Mapping[str, Any], recomputed: Mapping[str, Value]) -> dict[str, tuple[Value, Value]]:
    """The figures that a report states otherwise than they come out now: stated and recomputed value by address.

    A number that the report states and nothing recomputes is a difference; a missing value is none.
    """
    stated = reported_figures(report)
    return {place: (value, now) for place, value in stated.items() if not _is_same(value, now := recomputed.get(place))}


def _is_same(stated: Value, now: Value) -> bool:
    """Whether two values are equal, but for what the order of a sum changes: since Python 3.12, `sum` rounds less."""
    if isinstance(stated, float) and isinstance(now, float):
        return isclose(stated, now, rel_tol=1e-12)
    return stated == now


def differing(home: Installation, drop: str) -> dict[str, tuple[Value, Value]]:
    """The figures in the report of a drop that come out otherwise."""
    report = orjson.loads((home.reports(drop) / "report.json").read_bytes())
    return differences(report, figures(Evidence.of(home, drop, report)))


def why_not_recomputed(at: str) -> str | None:
    """Why a figure at an address below `drop/` is not recomputed; `None` if it is."""
    parts = at.removeprefix("drop/").split("/")
    if parts[0] == "judges" and parts[2:3] == ["errors"]:
        return NOT_RECOMPUTED["judges/errors"]
    if parts[0] == "gate" and parts[2:3] and parts[2].startswith(FINDING):
        return NOT_RECOMPUTED["findings"]
    if parts[0] == "gate" and parts[1:2] == ["metrics"] and parts[-1] in _COMPARED:
        return None
    if parts[0] == "gate" and parts[1:2] not in (["fallen_tasks"], ["improved_tasks"]):
        return NOT_RECOMPUTED["gate/tests"]
    return next(
        (why for place, why in NOT_RECOMPUTED.items() if parts[: place.count("/") + 1] == place.split("/")), None
    )


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

    def all(self) -> Figures:
        yield from self._records()
        yield from self._outcomes()
        yield from statistic(("drop", "overall"), self._overall.values(), self._tasks())
        yield from self._criteria()
        yield from self._tools()
        for judge in self._evidence.judges:
            yield from self._judge(judge)
        for origin in self._evidence.origins:
            yield from self._trajectory(origin)
        yield from self._sections()

    def _sections(self) -> Figures:
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

    def _panel(self, level: TableLevel, subject: Subject) -> dict[str, float | None]:
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

    def _records(self) -> Figures:
        evidence = self._evidence
        kept, total = len(evidence.origins), len(evidence.origins) + sum(evidence.rejected.values())
        share = kept / total if total else None
        counts = {"total": total, "kept": kept, "kept_share": share, "repaired": evidence.repaired}
        yield from at_place(("drop", "records"), counts)
        for reason, count in evidence.rejected.items():
            stage = "removed" if reason in ("frequency", "duplicates") else "unreadable"
            yield address("drop", "records", stage, reason), count
        clips = [(origin.id, clip.index) for origin in evidence.origins for clip in origin.clips]
        totals = {
            "rejected_total": total - kept,
            "trajectories_total": kept,
            "tasks_total": len({origin.task_id for origin in evidence.origins}),
            "repairs_total": evidence.repairs,
            "total_clips": len(clips),
            "scored_clips": sum(bool(known_of(self._clips[clip].values())) for clip in clips),
        }
        yield from at_place(("drop",), totals)
        yield from at_place(("drop", "agent_use"), self._agent_use())

    def _agent_use(self) -> dict[str, Value]:
        origins = self._evidence.origins
        used = [origin.usage for origin in origins]
        pairs = [known_of((each.input_tokens, each.output_tokens)) for each in used]
        costs = known_of(each.cost_usd for each in used)
        return {
            "n_runs": len(origins),
            "calls": sum(origin.n_tool_calls for origin in origins),
            "n_counted": sum(map(bool, pairs)),
            "tokens": sum(map(sum, pairs)) if any(pairs) else None,
            "n_priced": len(costs),
            "cost_usd": sum(costs) if costs else None,
            "is_list_price": any(each.is_list_price for each in used),
        }

    def _outcomes(self) -> Figures:
        evidence = self._evidence
        known = [origin.success for origin in evidence.origins if origin.success is not None]
        yield from at_place(("drop",), {"recorded_success": sum(known), "recorded_outcomes": len(known)})
        yield from rate("success", evidence.outcomes, evidence.readable)
        tasks = list(evidence.outcomes.values())
        if min(map(len, tasks), default=0) > 1:
            yield from trials(("drop", "recorded_trials"), tasks)
        right: dict[str, list[bool]] = {}
        for origin in evidence.origins:
            if (agreement := self._own[origin.id].get("answer_correctness")) is not None:
                right.setdefault(origin.task_id, []).append(agreement >= RIGHT_ANSWER)
        yield from rate("right_answer", right, len(evidence.origins))

    def _criteria(self) -> Figures:
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
        for (level, criterion), found in values.items():
            scores, tasks = zip(*found, strict=True)
            yield from statistic(("drop", "criteria", level, criterion), scores, tasks)

    def _tools(self) -> Figures:
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
                of_clips.append(mean_of(own.values()))
            scored = sum(bool(known_of(self._clips[trajectory, index].values())) for trajectory, index, _, _ in clips)
            of_tasks = [task_of[trajectory] for trajectory, *_ in clips]
            at = ("drop", "tools", tool)
            yield from at_place(at, {"clip_count": len(clips), "scored_clips": scored, "overall": mean_of(of_clips)})
            if known_of(of_clips):
                yield from interval(at, with_tasks(of_clips, of_tasks))
            yield from statistic((*at, "scores"), of_clips, of_tasks)
            calls = Counter(status for _, _, status, is_final in clips if not is_final)
            yield from at_place((*at, "calls"), calls)
            for criterion, (values, tasks) in criteria.items():
                yield from statistic((*at, "criteria", criterion), values, tasks)

    def _judge(self, judge: str) -> Figures:
        rows: dict[TableLevel, list[Row]] = {
            level: [row for of_subject in by_judge[judge].values() for row in of_subject]
            for level, by_judge in self._evidence.verdicts.items()
            if judge in by_judge
        }
        every = [row for found in rows.values() for row in found]
        at = ("drop", "judges", judge)
        replies = _each_reply_once(every)
        for column in ("cost_usd", "input_tokens", "output_tokens"):
            known = [row[column] for row in replies if row[column] is not None]
            total = fsum(known) if known and column == "cost_usd" else sum(known) if known else None
            yield address(*at, column), total
        known = ("input_tokens", "cost_usd")
        paid = [
            r for r in every if r["outcome"] in ("scored", "abstained") or any(r[name] is not None for name in known)
        ]
        yield address(*at, "unpriced_verdicts"), sum(row["cost_usd"] is None for row in paid)
        yield address(*at, "uncounted_verdicts"), sum(None in (r["input_tokens"], r["output_tokens"]) for r in paid)
        of_drop = [row for level, found in rows.items() if level != "canary" for row in found]
        yield address(*at, "share_seen"), mean_of(row["share_seen"] for row in of_drop)
        for level, found in rows.items():
            yield from at_place((*at, "outcomes", level), Counter(row["outcome"] for row in found))

    def _trajectory(self, origin: Origin) -> Figures:
        at = ("trajectory", origin.id)
        values = {
            "overall": self._overall[origin.id], "n_tool_calls": origin.n_tool_calls, "success": origin.success,
        }  # fmt: skip
        yield from at_place(at, values)
        yield from at_place((*at, "scores"), self._own[origin.id])
        for clip in origin.clips:
            yield address("clip", origin.id, clip.index, "score"), mean_of(self._clips[origin.id, clip.index].values())

    def _tasks(self) -> list[str]:
        return [origin.task_id for origin in self._evidence.origins]


def _each_reply_once(verdicts: Iterable[Row]) -> list[Row]:
    """Verdicts with the first of those that one reply gave: the same question asked twice is paid once."""
    found: dict[object, Row] = {}
    for number, row in enumerate(verdicts):
        found.setdefault(row["ledger_key"] or number, row)
    return list(found.values())
