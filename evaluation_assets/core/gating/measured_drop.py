"""The metrics of a drop by task, without the judges that labels disqualify."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from evaluation_assets.core.gating.baselines import FAILED_MOSTLY, SCORED_NO_CLIPS, SERVED
from evaluation_assets.core.gating.participants import Participants
from evaluation_assets.core.gating.task_metrics import case_metrics, metric_rows
from evaluation_assets.core.intake.facts import (
    DropFacts,
    FindingsFacts,
    MetricsFacts,
    PreprocessingFacts,
    SuiteFacts,
    VerdictFacts,
)
from evaluation_assets.core.judging.canaries import canaries_asked, canary_scores
from evaluation_assets.core.judging.canary_judges import canary_judges
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Level
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.judging.selection import ALL_ASKED, Selections, selections_of
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.scoring.analysed_sessions import session_metrics
from evaluation_assets.core.scoring.panel_scores import PanelVerdicts
from evaluation_assets.core.sections.findings.summary import findings_by_kind
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.model import TWO_OUTCOMES

_NAMES = {
    "raw": "raw_trajectories",
    "preprocessed": "preprocessed_trajectories",
    "rejected": "rejected_records",
}
"""Tables that go by shorter names here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTables:
    """The tables that a drop's metrics are computed from; verdicts by judge, and what the judges are asked."""

    raw: Stored
    preprocessed: Stored
    clips: Stored
    trajectory_scores: Stored
    tool_use_results: Stored
    session_analyses: Stored
    findings: Stored
    clip_verdicts: Mapping[str, Stored]
    trajectory_verdicts: Mapping[str, Stored]
    canary_verdicts: Mapping[str, Stored] = field(default_factory=dict)
    selections: Selections = ALL_ASKED

    @classmethod
    def of(cls, home: Installation, drop: str, judges: Sequence[Judge]) -> Self:
        """The tables of a drop under a panel; those that were never written read as empty."""
        asked = {"canary_verdicts": canary_judges(judges)}

        def table(name: str) -> Any:
            if not name.endswith("_verdicts"):
                return home.table(drop, _NAMES.get(name, name))
            return {judge.name: home.table(drop, name, judge.name) for judge in asked.get(name, judges)}

        names = (each.name for each in fields(cls) if each.name != "selections")
        return cls(**{name: table(name) for name in names}, selections=selections_of(judges))

    def scores(self, drop: str, scorers: Scorers, without: Collection[str] = ()) -> Iterator[Row]:
        """Rows of `trajectory_scores`, computed from the verdicts of all judges but those in `without`."""

        def said(verdicts: Mapping[str, Stored], *levels: Level) -> PanelVerdicts:
            tables = {judge.name: verdicts[judge.name] for judge in scorers.judges if judge.name not in without}
            majorities = scorers.rubrics.majorities(*levels)
            return PanelVerdicts(tables, scorers.quorum, self.selections, majorities, scorers.stages)

        clip_scores = panel_scores.clip_scores(drop, self.clips, said(self.clip_verdicts, "clip"))
        whole = said(self.trajectory_verdicts, "trajectory", "answer")
        return panel_scores.trajectory_scores(drop, self.preprocessed, clip_scores, whole)


class MeasuredDrop:
    """The metrics of a drop under a panel. `kept_out` names the excluded judges, with the reason."""

    def __init__(self, drop: str, tables: MeasuredTables, scorers: Scorers, disqualified: Mapping[str, str]) -> None:
        self._drop = drop
        self._tables = tables
        self._scorers = scorers
        self._participants = Participants()
        names = {judge.name for judge in scorers.judges}
        self.kept_out = {judge: why for judge, why in disqualified.items() if judge in names}

    def rows(self) -> Iterator[Row]:
        """Rows of `task_metrics`."""
        tables = self._tables
        # Session analyses average the whole panel, so their scores are unknown if a judge is excluded.
        of_sessions = {} if self.kept_out else session_metrics(tables.session_analyses)
        cases = case_metrics(tables.tool_use_results)
        findings = findings_by_kind(tables.findings)
        scores = self._scores()
        yield from metric_rows(
            self._drop, tables.preprocessed, scores, cases, of_sessions, self._participants, findings
        )

    def facts(self) -> MetricsFacts:
        """Facts about the drop that are stored with the metrics; available after all rows were read."""
        raw = DropFacts.of(self._tables.raw)
        canaries = {
            judge: list(stored.rows(["trajectory_id", "scores"]))
            for judge, stored in self._tables.canary_verdicts.items()
        }
        return MetricsFacts(
            content=raw.content,
            sidecar=raw.sidecar,
            comparability=self._comparability(),
            kept_out=self.kept_out,
            canaries={judge: canary_scores(table) for judge, table in canaries.items()},
            canaries_asked={judge: canaries_asked(table) for judge, table in canaries.items()},
            participants=self._participants.agreed(),
            versions=self._participants.versions if self._participants.versions[1:] else (),
            detectors=FindingsFacts.of(self._tables.findings).detectors,
            disputed=[
                (row["trajectory_id"], row["task_id"], row["success"])
                for row in self._tables.preprocessed.rows(["trajectory_id", "task_id", "success", "flags"])
                if TWO_OUTCOMES in row["flags"] and row["success"] is not None
            ],
        )

    def metadata(self) -> Mapping[str, str]:
        """The excluded judges and the reasons, for the UI."""
        return {f"kept_out_{judge}": why for judge, why in self.kept_out.items()}

    def _scores(self) -> Iterator[Row]:
        """Rows of `trajectory_scores`; if a judge is excluded, recomputed from the verdicts of the others."""
        if not self.kept_out:
            return self._tables.trajectory_scores.rows()
        return self._tables.scores(self._drop, self._scorers, self.kept_out)

    def _comparability(self) -> dict[str, str]:
        tables = self._tables
        parts = drop_comparability(tables, self._scorers)
        for judge, canaries in tables.canary_verdicts.items():
            own = (tables.clip_verdicts[judge], tables.trajectory_verdicts[judge], canaries)
            if served := _served_models(own):
                parts[f"{SERVED}{judge}"] = served
        return parts


def drop_comparability(tables: MeasuredTables, scorers: Scorers) -> dict[str, str]:
    """The parts of a drop's comparability key: panel, preprocessing settings, averaging, suite, and cascade."""
    parts = scorers.comparability(PreprocessingFacts.of(tables.preprocessed).settings)
    parts["scoring"] = panel_scores.SCORING_VERSION
    if version := SuiteFacts.of(tables.tool_use_results).suite_version:
        parts["suite"] = version
    verdicts = (*tables.clip_verdicts.values(), *tables.trajectory_verdicts.values())
    if cascades := {facts.cascade for facts in map(VerdictFacts.of, verdicts) if facts.cascade}:
        parts["cascade"] = ", ".join(sorted(cascades))
    scored = {judge for judge, stored in tables.clip_verdicts.items() if "scored" in stored.values("outcome")}
    if scored:
        parts |= {f"judge {judge.name}{SCORED_NO_CLIPS}": "yes" for judge in scorers.judges if judge.name not in scored}
    for judge, stored in tables.clip_verdicts.items():
        outcomes = Counter([*stored.values("outcome"), *tables.trajectory_verdicts[judge].values("outcome")])
        is_told = f"judge {judge}{SCORED_NO_CLIPS}" in parts
        if not is_told and outcomes["failed"] + outcomes["not_run"] > outcomes.total() / 2:
            parts[f"judge {judge}{FAILED_MOSTLY}"] = "yes"
    return parts


def _served_models(verdicts: Sequence[Stored]) -> str:
    """The model versions that served a judge, without the fingerprints of machines, which change at any time."""
    named = {name for stored in verdicts for name in stored.values("served_model")}
    return ", ".join(sorted({name.split(" ", 1)[0] for name in named if name}))
