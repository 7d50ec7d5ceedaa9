"""What went wrong in the runs of a drop, as rows with a summary."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from evaluation_assets.core.intake.facts import DropFacts, FindingsFacts
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.stored import Aligned, Stored, Stream
from evaluation_assets.core.lake.tables import FINDINGS
from evaluation_assets.core.sections.findings.claim_counts import judged_claims
from evaluation_assets.core.sections.findings.detecting import detected_and_claimed
from evaluation_assets.core.sections.findings.evidence.call_forms import CallForms
from evaluation_assets.core.sections.findings.finding_rows import Row, claim_rows, finding_rows, process_score_row
from evaluation_assets.core.sections.findings.gathering import JudgedClaim, findings_of
from evaluation_assets.core.sections.findings.process_score import process_score
from evaluation_assets.core.sections.findings.versions import versions_with
from evaluation_assets.core.sections.sessions.analysis import PANEL
from evaluation_assets.core.suites.recorded_expectations import unmet_expectations
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_CODING = (
    "trajectory_id", "correction_quotes", "edits_undone", "repeated_reads", "most_reread", "interruptions",
    "denied_calls",
)  # fmt: skip


SOURCES = ("raw_trajectories", "session_analyses", "tool_use_results", "constraint_results", "coding_work")
"""The tables of a drop that findings are made from."""


def drop_findings(
    drop: str, sources: Sequence[Stored], scores: Spool, claims: Spool, judged: Mapping[str, Stored]
) -> Stream:
    """Rows of `findings`: of all trajectories, also those that rules keep from the judges.

    `sources` are the tables of `SOURCES`. The rows of `process_scores` are set aside in `scores`, those of `claims` in
    `claims`. `judged` are the verdicts on whole runs of the judges that check claims of the final answer, by judge.
    """
    raw, sessions, tool_use, constraints, coding_work = sources
    counts: Counter[str] = Counter()
    contradicted = _contradicted(judged)
    forms = call_forms(raw)

    def rows() -> Iterator[Row]:
        analyses = Aligned(sessions.rows(["session_id", "analyst", "analysis"]), "session_id")
        cases = {
            row["trajectory_id"]: row["issues"]
            for row in tool_use.rows(["trajectory_id", "issues"])
            if row["trajectory_id"] is not None
        }
        outcomes = Aligned(constraints.rows(["trajectory_id", "severity", "status", "violations"]))
        work = Aligned(coding_work.rows(list(_CODING)))
        for stored in raw.rows(TREE_AND_TEXT):
            trajectory = trajectory_of(stored)
            constrained = outcomes.at(trajectory.id)
            detections, claimed = detected_and_claimed(trajectory, forms)
            for row in claim_rows(drop, trajectory, claimed):
                claims.add(row)
            findings = findings_of(
                trajectory,
                detections,
                session_issues=_issues(analyses.at(trajectory.id)),
                case_issues=cases.get(trajectory.id, []),
                unmet=[] if trajectory.id in cases else [asdict(issue) for issue in unmet_expectations(trajectory)],
                constraints=constrained,
                coding_work=work.at(trajectory.id),
                contradicted=contradicted.get(trajectory.id, ()),
            )
            counts.update(finding.kind for finding in findings)
            scored = process_score(trajectory, findings, has_rules=bool(constrained))
            scores.add(process_score_row(drop, trajectory, scored))
            yield from finding_rows(drop, trajectory, findings)

    return Stream.of(
        FINDINGS,
        rows(),
        lambda: {"findings": counts.total(), **dict(counts)},
        FindingsFacts(detectors=versions_with(judged)).footer,
    )


def call_forms(raw: Stored) -> CallForms:
    """How tools are called in a drop; without any form where an earlier version read it."""
    return CallForms.of_rows(DropFacts.of(raw).call_forms)


def _contradicted(judged: Mapping[str, Stored]) -> dict[str, list[JudgedClaim]]:
    """The claims that judges found contradicted, by trajectory."""
    by_trajectory: dict[str, list[JudgedClaim]] = {}
    for judge, verdicts in judged.items():
        for claim in judged_claims(verdicts):
            if claim["verdict"] == "contradicted":
                by_trajectory.setdefault(claim["trajectory_id"], []).append((judge, claim["claim"], claim["quote"]))
    return by_trajectory


def _issues(analyses: Sequence[Row]) -> list[JsonObject]:
    """What the panel's analysis of a session found; nothing for a trajectory that is no session."""
    return [issue for row in analyses if row["analyst"] == PANEL for issue in json.loads(row["analysis"])["issues"]]
