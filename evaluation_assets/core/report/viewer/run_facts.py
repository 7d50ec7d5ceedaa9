"""What queries of the runs table can ask of a trajectory, beyond the columns that the table shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import CODING_WORK
from evaluation_assets.core.report.session_report import SCORES as SESSION_SCORES
from evaluation_assets.core.report.suite_report import METRICS
from evaluation_assets.core.report.summary import DropTables
from evaluation_assets.core.sections.findings.summary import Alike
from evaluation_assets.core.sections.sessions.analysis import PANEL
from evaluation_assets.core.sections.sessions.analysis_rows import analysis_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

Row = Mapping[str, Any]

_CODING = CODING_WORK.totalled("sum", "known")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Rows of the tables that have one row, or a few, for a trajectory, by trajectory."""

    suite: Mapping[str, Row]
    sessions: Mapping[str, JsonObject]
    coding: Mapping[str, Row]
    constraints: Mapping[str, Sequence[str]]
    findings: Mapping[str, Sequence[str]]
    groups: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, tables: DropTables, alike: Sequence[Alike] = ()) -> Self:
        """Read what is stored about the trajectories of a drop. `alike` is the failure group of each finding."""
        columns = ["trajectory_id", "category", "passed", "completed", "answer_outcome", *METRICS]
        coding = ["trajectory_id", "project", "model", "last_test_result", "by_model", *_CODING]
        return cls(
            suite={row["trajectory_id"]: row for row in tables.tool_use_results.rows(columns)},
            sessions=_sessions(tables.session_analyses),
            coding={row["trajectory_id"]: row for row in tables.coding_work.rows(coding)},
            constraints=_statuses(tables.constraint_results),
            findings=_kinds(tables.findings),
            groups=_groups(alike),
        )

    def passed(self, trajectory_id: str) -> bool | None:
        """Whether the test suite passed the run; `None` without a suite."""
        return self.suite.get(trajectory_id, {}).get("passed")

    def figures(self, trajectory_id: str, clips: Sequence[JsonObject], categories: Sequence[JsonObject]) -> JsonObject:
        """Numbers by name: `clip.clarity` is the lowest score of a clip, `category.clarity` that of a category.

        Missing numbers are left out.
        """
        found = _lowest("clip", clips) | _lowest("category", categories)
        for prefix, rows, names in (("suite", self.suite, METRICS), ("coding", self.coding, _CODING)):
            row = rows.get(trajectory_id, {})
            found |= {f"{prefix}.{name}": row[name] for name in names if row.get(name) is not None}
        session = self.sessions.get(trajectory_id, {}).get("figures", {})
        return found | {f"session.{name}": value for name, value in session.items() if value is not None}

    def words(self, trajectory: Trajectory, verdicts: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
        """Words by field, such as `{"verdict": ["rules/clip/scored"]}`. Parts of a word are separated by slashes."""
        found: dict[str, list[str]] = {"agent_id": [agent.id for agent in trajectory.agents]}
        found["verdict"] = sorted(
            {f"{row['judge']}/{level}/{row['outcome']}" for level, rows in verdicts.items() for row in rows}
            | {
                f"{row['judge']}/error/{row['error_kind']}"
                for rows in verdicts.values()
                for row in rows
                if row["error_kind"]
            }
        )
        found["constraint"] = list(self.constraints.get(trajectory.id, ()))
        found["finding"] = list(self.findings.get(trajectory.id, ()))
        found["group"] = list(self.groups.get(trajectory.id, ()))
        if (run := self.suite.get(trajectory.id)) is not None:
            found["category"] = [run["category"] or ""]
            found["answer"] = [run["answer_outcome"]] if run["answer_outcome"] else []
            found["completed"] = ["yes" if run["completed"] else "no"]
        if (session := self.sessions.get(trajectory.id)) is not None:
            found["pattern"] = [session["pattern"]]
            found["goal"] = [session["goal"]]
        if (work := self.coding.get(trajectory.id)) is not None:
            found["project"] = [work["project"] or ""]
            found["tests"] = [work["last_test_result"] or "none"]
            found["model_used"] = sorted(
                {name or "" for name in (work["model"], *(one["model"] for one in work["by_model"]))}
            )
        return {field: words for field, words in found.items() if words}


def _lowest(level: str, subjects: Iterable[JsonObject]) -> JsonObject:
    found: dict[str, Any] = {}
    for subject in subjects:
        for criterion, score in subject["scores"].items():
            name = f"{level}.{criterion}"
            if score is not None and score < found.get(name, 2.0):
                found[name] = score
    return found


def _sessions(analyses: Stored) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = {}
    for row in analyses.rows():
        if row["analyst"] != PANEL:
            continue
        analysis = analysis_of(row)
        counts = analysis.conversation.model_dump()
        goal = {True: "achieved", False: "missed", None: "unknown"}[analysis.task_completion]
        found[row["session_id"]] = {
            "figures": {name: row[name] for name in SESSION_SCORES} | counts,
            "pattern": row["signal"] or "nothing done",
            "goal": goal,
        }
    return found


def _statuses(results: Stored) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in results.rows(["trajectory_id", "constraint", "status"]):
        found.setdefault(row["trajectory_id"], []).append(f"{row['constraint']}/{row['status']}")
    return found


def _kinds(findings: Stored) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for row in findings.rows(["trajectory_id", "kind"]):
        found.setdefault(row["trajectory_id"], {})[row["kind"]] = None
    return {run: list(kinds) for run, kinds in found.items()}


def _groups(alike: Sequence[Alike]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for each in alike:
        found.setdefault(each.trajectory_id, {})[each.group_id] = None
    return {run: list(groups) for run, groups in found.items()}
