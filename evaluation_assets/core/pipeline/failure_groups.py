"""Failure groups over all drops: their findings, and how many runs of each drop they affect."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import get_args

from evaluation_assets.core.gating.drops_in_time import Place, place_in_time
from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.gating.task_metrics import without_tasks
from evaluation_assets.core.intake.facts import GroupsFacts, MetricsFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import FAILURE_GROUPS, GROUPED_FINDINGS
from evaluation_assets.core.scoring.intervals import rate_interval
from evaluation_assets.core.sections.failure_groups.grouping import (
    GROUPING_VERSION,
    UNEXPLAINED,
    GroupKey,
    grouped,
    names_of,
    tools_of,
)
from evaluation_assets.core.sections.failure_groups.identity import FormerGroups, ids_of
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence, instance_of
from evaluation_assets.core.sections.failure_groups.states import KeptState, State, read_states, shown_name, state_of
from evaluation_assets.core.sections.failure_groups.trends import DropCount, change_in
from evaluation_assets.core.sections.findings.summary import SEVERITIES
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.core.text.counted import percent
from evaluation_assets.core.text.excerpts import in_short
from evaluation_assets.core.text.plain_text import markdown_cell
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.trajectory_rows import header_of

SOURCES = ("findings", "raw_trajectories", "clips", "tool_use_results", "score_history", "task_metrics")
"""Tables of a drop that groups are made from."""

_SHOWN = 10
"""Groups that the UI shows."""

_EXCERPT = 300
_MESSAGE = re.compile(r"^<message(?: [^>\n]*)?>\n(.*?)\n</message>$", re.MULTILINE | re.DOTALL)
_PLACED = ("trajectory_id", "task_id", "kind", "severity", "tool", "evidence", "clip_index", "start", "end")


@dataclass(slots=True, kw_only=True)
class EvaluatedRuns:
    """The runs of a drop: the task of each, and whether it succeeded, where that is recorded.

    `agent` is what drops are compared by: the model if no agent is named. `version` is the agent with its version, and
    `versions` are those of the runs, where a drop has several.
    """

    drop: str
    suite: str | None
    agent: str | None
    version: str
    tasks: dict[str, str] = field(default_factory=dict)
    successes: dict[str, bool] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def count(self, affected: int) -> DropCount:
        """The drop with so many affected runs."""
        return DropCount(self.drop, self.suite, self.agent, self.version, len(self.tasks), affected)

    def versions_of(self, affected: Iterable[str]) -> list[str]:
        """The versions of the affected runs; none if they are unknown."""
        versions = (self.versions.get(run, self.version) for run in affected)
        return sorted({version for version in versions if version})


@dataclass
class AllRuns:
    """What groups are made of. `drops` are in the order in which their runs were made.

    `calls` are those of each drop by tool. `before` has the IDs of the groups that findings were in, `former` what
    these had in common, and `named` the IDs in groups.yaml.
    """

    drops: list[EvaluatedRuns] = field(default_factory=list)
    occurrences: list[Occurrence] = field(default_factory=list)
    calls: dict[str, Counter[str]] = field(default_factory=dict)
    before: FormerGroups = field(default_factory=FormerGroups)
    former: Collection[GroupKey] = ()
    named: Collection[str] = ()

    @cached_property
    def groups(self) -> dict[GroupKey, list[Occurrence]]:
        """The groups of all that was read."""
        return grouped(self.occurrences, self.calls, self.former)

    @cached_property
    def ids(self) -> dict[GroupKey, str]:
        """The IDs of the groups."""
        return ids_of(self.groups, self.before, self.named)

    @cached_property
    def compared(self) -> list[tuple[EvaluatedRuns, set[str]]]:
        """The drops, each with its runs that can be compared with the others."""
        return comparable_runs(self.drops)


def comparable_runs(drops: Sequence[EvaluatedRuns]) -> list[tuple[EvaluatedRuns, set[str]]]:
    """The drops, each with its runs of tasks that the last drop of its agent in its suite and one before have.

    Of all tasks, if these share none. So a suite to which failing cases are added has no failure that grew.
    """
    series = by_key(((drop.suite, drop.agent), drop) for drop in drops)
    tasks = {key: _shared_tasks(last, earlier) for key, (*earlier, last) in series.items()}
    return [
        (drop, {run for run, task in drop.tasks.items() if task in tasks[drop.suite, drop.agent]}) for drop in drops
    ]


def comparable_trend(
    compared: Iterable[tuple[EvaluatedRuns, set[str]]], affected: Mapping[str, set[str]]
) -> list[DropCount]:
    """How many of the runs that can be compared are among the `affected` runs of their drop."""
    return [drop.count(len(own & affected.get(drop.drop, set())))._replace(n_runs=len(own)) for drop, own in compared]


def _shared_tasks(last: EvaluatedRuns, earlier: Sequence[EvaluatedRuns]) -> set[str]:
    now, before = set(last.tasks.values()), {task for drop in earlier for task in drop.tasks.values()}
    return now & before or now | before


def read_runs(home: Installation, damaged: Callable[[str], object]) -> AllRuns:
    """The findings and runs of all evaluated drops. A damaged file is reported and its drop skipped.

    Raises:
        InvalidConfiguration: `groups.yaml` is not valid.
    """
    all_runs = AllRuns(named=read_states(home.groups_file).keys())
    for before, former in without_damaged([GROUPED_FINDINGS.name], lambda _: former_groups(home), damaged):
        all_runs.before, all_runs.former = before, former

    def read(drop: str) -> tuple[Place, tuple[EvaluatedRuns, list[Occurrence], Counter[str]]]:
        return place_in_time(home, drop), read_drop(home, drop)

    everything = list(without_damaged(home.drops_with("findings"), read, damaged))
    for _, (runs, findings, calls) in sorted(everything, key=itemgetter(0)):
        all_runs.drops.append(runs)
        all_runs.occurrences += findings
        all_runs.calls[runs.drop] = calls
    return all_runs


def former_groups(home: Installation) -> tuple[FormerGroups, Collection[GroupKey]]:
    """The groups that findings were in, and what they had in common; none without their tables."""
    before = FormerGroups()
    members, groups = (home.whole_table(table.name) for table in (GROUPED_FINDINGS, FAILURE_GROUPS))
    if not (members.exists and groups.exists):
        return before, ()
    for row in members.rows(["group_id", "drop", "trajectory_id", "kind", "clip_index", "evidence"]):
        member = (row["drop"], row["trajectory_id"], row["kind"])
        before.add(member, instance_of(member, row["clip_index"], row["evidence"]), row["group_id"])
    return before, {GroupKey(row["kind"], row["tool"], row["words"]) for row in groups.rows(["kind", "tool", "words"])}


def read_drop(home: Installation, drop: str) -> tuple[EvaluatedRuns, list[Occurrence], Counter[str]]:
    """The runs of a drop, its findings with the failed runs without any, and its calls by tool."""
    runs = evaluated_runs(home, drop)
    of_runs = FindingsOfRuns(runs, home.table(drop, "findings"), home.table(drop, "raw_trajectories"))
    return runs, list(chain.from_iterable(of_runs)), calls_of(home, drop)


def calls_of(home: Installation, drop: str) -> Counter[str]:
    """The calls of a drop by tool."""
    return Counter(filter(None, home.table(drop, "clips").values("tool_name")))


@dataclass(frozen=True, slots=True)
class FindingsOfRuns:
    """The findings of each run in the order of the table, then each failed run without any; read when iterated."""

    runs: EvaluatedRuns
    findings: Stored
    raw: Stored

    def __iter__(self) -> Iterator[list[Occurrence]]:
        failed = {run for run, succeeded in self.runs.successes.items() if not succeeded}
        for run, rows in groupby(self.findings.rows(list(_PLACED)), itemgetter("trajectory_id")):
            failed.discard(run)
            short = ({**row, "evidence": in_short(row["evidence"], _EXCERPT)} for row in rows)
            yield [Occurrence(drop=self.runs.drop, **row) for row in short]
        if failed:
            yield from ([each] for each in _unexplained(self.raw, self.runs, failed))


def evaluated_runs(home: Installation, drop: str) -> EvaluatedRuns:
    """The runs of an evaluated drop. Whether a run succeeded is what its source recorded, else what its suite says."""
    metrics = without_tasks(drop, home.table(drop, "task_metrics"))
    runs = EvaluatedRuns(
        drop=drop,
        suite=metrics.suite,
        agent=metrics.agent or metrics.model,
        version=_label(metrics.agent, metrics.agent_version),
    )
    if metrics.agent_version is None and MetricsFacts.of(home.table(drop, "task_metrics")).versions:
        for row in home.table(drop, "raw_trajectories").rows(["trajectory_id", "trajectory"]):
            versions = {agent.version for agent in header_of(row).agents} - {None}
            runs.versions[row["trajectory_id"]] = _label(metrics.agent, *sorted(filter(None, versions)))
    for row in home.table(drop, "raw_trajectories").rows(["trajectory_id", "task_id", "success"]):
        runs.tasks[row["trajectory_id"]] = row["task_id"]
        if row["success"] is not None:
            runs.successes[row["trajectory_id"]] = row["success"]
    for row in home.table(drop, "tool_use_results").rows(["trajectory_id", "passed"]):
        if row["trajectory_id"] is not None and row["passed"] is not None:
            runs.successes.setdefault(row["trajectory_id"], row["passed"])
    return runs


def _label(*parts: str | None) -> str:
    """An agent with its version; empty if both are unknown."""
    return " ".join(filter(None, parts))


def _unexplained(raw: Stored, runs: EvaluatedRuns, failed: set[str]) -> Iterator[Occurrence]:
    """Runs that failed without a finding. A conversation that users end has no answer, but what agents said last."""
    for row in raw.rows(["trajectory_id", "final_answer", "text"]):
        if row["trajectory_id"] in failed:
            said = row["final_answer"] or next(iter(_MESSAGE.findall(row["text"] or "")[-1:]), "").strip()
            yield Occurrence(
                drop=runs.drop,
                trajectory_id=row["trajectory_id"],
                task_id=runs.tasks[row["trajectory_id"]],
                kind=UNEXPLAINED,
                severity="HIGH",
                tool=None,
                evidence=(said or "no answer")[:_EXCERPT],
            )


def member_rows(all_runs: AllRuns) -> Iterator[Row]:
    """Rows of `grouped_findings`, group by group."""
    for key, members in all_runs.groups.items():
        for each in members:
            yield {
                "group_id": all_runs.ids[key],
                "drop": each.drop,
                "trajectory_id": each.trajectory_id,
                "task_id": each.task_id,
                "kind": each.kind,
                "severity": each.severity,
                "tool": each.tool,
                "clip_index": each.clip_index,
                "start": each.start,
                "end": each.end,
                "evidence": each.evidence,
            }


def group_rows(all_runs: AllRuns, states: Mapping[str, KeptState]) -> list[Row]:
    """Rows of `failure_groups`: the gravest first, of these those with the most affected runs."""
    ids, tools = all_runs.ids, {key: tools_of(key, members) for key, members in all_runs.groups.items()}
    names = names_of(tools)
    rows = [
        _row(key, names[key], members, all_runs, states.get(ids[key])) | {"tools": sorted(tools[key])}
        for key, members in all_runs.groups.items()
    ]
    return sorted(rows, key=lambda row: (SEVERITIES.index(row["severity"]), -row["n_runs"], row["group_id"]))


def with_drops(all_runs: AllRuns, states: Mapping[str, KeptState]) -> dict[str, KeptState]:
    """Those states that are resolved whose drops change: to those that have the group by now where none are named,
    else without drops that have it no more. There it would be seen again.
    """
    seen = {all_runs.ids[key]: {each.drop: None for each in own} for key, own in all_runs.groups.items()}
    evaluated = {drop.drop for drop in all_runs.drops}
    updated: dict[str, KeptState] = {}
    for name, kept in states.items():
        if kept.state == "resolved" and (name in seen or kept.drops is not None):
            having = seen.get(name, {})
            left = (
                having
                if kept.drops is None
                else [each for each in kept.drops if each in having or each not in evaluated]
            )
            if kept.drops != tuple(left):
                updated[name] = kept.model_copy(update={"drops": tuple(left)})
    return updated


def _row(key: GroupKey, name: str, members: Sequence[Occurrence], all_runs: AllRuns, kept: KeptState | None) -> Row:
    drops = all_runs.drops
    affected: dict[str, set[str]] = defaultdict(set)
    for each in members:
        affected[each.drop].add(each.trajectory_id)
    trend = [drop.count(len(affected.get(drop.drop, ()))) for drop in drops]
    seen = [each for each in trend if each.n_affected]
    by_task: dict[tuple[str | None, str], list[bool]] = defaultdict(list)
    for drop in drops:
        for run, task in drop.tasks.items():
            by_task[drop.suite, task].append(run in affected.get(drop.drop, ()))
    low, high = rate_interval(by_task.values())
    compared = comparable_trend(all_runs.compared, affected)
    change, changed_in = change_in(compared, len(all_runs.groups)) or (None, None)
    state = state_of(kept, affected, change)
    n_runs, n_all = sum(map(len, affected.values())), sum(map(len, by_task.values()))
    return {
        "group_id": all_runs.ids[key],
        "name": shown_name(name, kept),
        "kind": key.kind,
        "tool": key.tool,
        "words": key.words,
        "severity": min((each.severity for each in members), key=SEVERITIES.index),
        "state": state,
        "changed_in": changed_in if state == change else None,
        "n_findings": len(members),
        "n_runs": n_runs,
        "n_tasks": sum(map(any, by_task.values())),
        "share": n_runs / n_all,
        "ci_low": low,
        "ci_high": high,
        "first_drop": seen[0].drop,
        "last_drop": seen[-1].drop,
        "versions": list(dict.fromkeys(one for drop in drops for one in drop.versions_of(affected.get(drop.drop, ())))),
        "success_with": _success(drops, affected, is_affected=True),
        "success_without": _success(drops, affected, is_affected=False),
        "by_drop": [{"drop": each.drop, "n_runs": each.n_runs, "n_affected": each.n_affected} for each in trend],
    }


def group_facts(drops: Sequence[EvaluatedRuns], made_from: str) -> GroupsFacts:
    """What the table of groups notes: the drops that were grouped, and `made_from` of before they were read."""
    return GroupsFacts(drops=[drop.count(0)[:-1] for drop in drops], made_from=made_from)


def made_from(home: Installation) -> str:
    """A digest of all that groups are made from: tables by size and time, and groups.yaml.

    Empty for tables in an object store, where every call would be a request for each of them.
    """
    if not is_local(home.lake):
        return ""
    states = home.groups_file.read_text("utf-8", errors="replace") if home.groups_file.is_file() else ""
    files = (Path(home.table(drop, name).path.path) for drop in home.drops_with("findings") for name in SOURCES)
    about = ((file, file.stat()) for file in files if file.exists())
    stamps = [f"{file} {own.st_size} {own.st_mtime_ns}" for file, own in about]
    return digest(GROUPING_VERSION, states, *stamps)


def are_current(home: Installation) -> bool:
    """Whether the stored groups are what would be made now."""
    tables = [home.whole_table(name) for name in (GROUPED_FINDINGS.name, FAILURE_GROUPS.name)]
    noted = GroupsFacts.of(tables[-1]).made_from if all(table.exists for table in tables) else ""
    return bool(noted) and noted == made_from(home)


def _success(drops: Sequence[EvaluatedRuns], affected: Mapping[str, set[str]], *, is_affected: bool) -> float | None:
    """The success rate of runs with, or without, a finding of the group."""
    known = [
        succeeded
        for drop in drops
        for run, succeeded in drop.successes.items()
        if (run in affected.get(drop.drop, ())) == is_affected
    ]
    return sum(known) / len(known) if known else None


def group_figures(rows: Sequence[Row]) -> dict[str, int | float]:
    """Numbers that the UI plots over materialisations: groups, those in each state, and the shares of the gravest."""
    states = Counter(row["state"] for row in rows)
    shares = {f"share_{row['group_id']}": row["share"] for row in rows[:_SHOWN]}
    return {"groups": len(rows), **{state: states[state] for state in get_args(State)}, **shares}


def group_table(rows: Sequence[Row]) -> str:
    """The gravest groups as a Markdown table."""
    cells = [
        (row["group_id"], markdown_cell(row["name"]), row["state"], f"{row['n_runs']:,}", percent(row["share"]))
        for row in rows[:_SHOWN]
    ]
    lines = [("group", "name", "state", "runs", "share of all runs"), ("---", "---", "---", "---:", "---:"), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
