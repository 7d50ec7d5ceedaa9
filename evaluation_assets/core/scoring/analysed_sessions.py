"""Rows of `session_analyses`: one for the panel, and one per judge if there are several."""

from collections.abc import Callable, Iterator, Mapping

from evaluation_assets.core.judging.selection import ALL_ASKED, Selections, session_level
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.scoring.averages import NO_STAGES, Leniency, Stages, average, panel_scores
from evaluation_assets.core.sections.sessions.analysing import PanelMeans, analyse
from evaluation_assets.core.sections.sessions.analysis import PANEL
from evaluation_assets.core.sections.sessions.analysis_rows import analysis_row
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.interactions import is_session
from evaluation_assets.core.sections.sessions.similarity import LexicalSimilarity, Similarity, SimilarityUnavailable
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of


def session_analyses(
    drop: str,
    trajectories: Stored,
    verdicts: Mapping[str, Stored],
    quorum: int,
    measure: Similarity,
    say: Callable[[str], object],
    selections: Selections = ALL_ASKED,
    stages: Stages = NO_STAGES,
) -> Iterator[Row]:
    """Rows of `session_analyses` in the order of the trajectories; trajectories that are not sessions have none.

    The panel's means are adjusted for the leniency of the judges that scored, so that a missing judge does not shift
    them. If `measure` fails, character n-grams are compared instead: the analysis names the measure used, and `say`
    receives a warning.
    """
    columns = ["trajectory_id", "subject", "outcome", "scores"]
    judges = list(verdicts)
    leniency = _leniency(trajectories, verdicts)
    by_judge = {judge: Aligned(table.rows(columns)) for judge, table in verdicts.items()}
    for row in trajectories.rows(TREE_AND_TEXT):
        trajectory = trajectory_of(row)
        if not is_session(trajectory):
            continue
        own = {judge: rows.at(trajectory.id) for judge, rows in by_judge.items()}

        def needed(subject: str, asked_in: str = trajectory.id) -> int:
            return selections.quorum(judges, session_level(subject), asked_in, quorum)

        analysts = {PANEL: (panel_means(own, needed, leniency, stages), list(own))}
        if len(own) > 1:
            analysts |= {judge: (panel_means({judge: said}, 1), [judge]) for judge, said in own.items()}
        seen = _evidence(trajectory, measure, say)
        for analyst, (means, names) in analysts.items():
            yield analysis_row(drop, trajectory, analyst, analyse(seen, means, names))


_OF_SESSIONS = ("overall", "conversation", "tool_use", "coordination", "reasoning")

SESSION_METRICS = tuple(f"session.{name}" for name in _OF_SESSIONS)
"""Names of the metrics of sessions."""


def session_metrics(analyses: Stored) -> dict[str, dict[str, float | None]]:
    """The panel's scores of every session as metrics for the gate: `session.overall` etc.

    Drift is excluded: without a judge it is a similarity of texts, which is reported but never gates.
    """
    columns = ["session_id", "analyst", *(f"{name}_score" for name in _OF_SESSIONS)]
    return {
        row["session_id"]: {f"session.{name}": row[f"{name}_score"] for name in _OF_SESSIONS}
        for row in analyses.rows(columns)
        if row["analyst"] == PANEL
    }


def panel_means(
    verdicts: Mapping[str, list[Row]],
    quorum: int | Callable[[str], int],
    leniency: Mapping[str, Mapping[str, float]] | None = None,
    stages: Stages = NO_STAGES,
) -> PanelMeans:
    """Mean score by subject and criterion, if at least `quorum` judges scored; it may depend on the subject.

    `leniency` is each judge's mean deviation from the panel, by criterion; it is subtracted from the judge's scores.
    """
    means: dict[str, dict[str, float]] = {}
    for subject, by_judge in _subjects(verdicts).items():
        needed = quorum if isinstance(quorum, int) else quorum(subject)
        averages = {
            criterion: average(scores, len(by_judge), needed, (leniency or {}).get(criterion, {}), stages)
            for criterion, scores in panel_scores(by_judge).items()
        }
        means[subject] = {
            criterion: each.adjusted_mean for criterion, each in averages.items() if each.adjusted_mean is not None
        }
    return means


def _subjects(verdicts: Mapping[str, list[Row]]) -> dict[str, dict[str, list[Row]]]:
    """Verdict rows of one session, by subject and judge."""
    subjects: dict[str, dict[str, list[Row]]] = {}
    for judge, rows in verdicts.items():
        for row in rows:
            subjects.setdefault(row["subject"], {}).setdefault(judge, []).append(row)
    return subjects


def _leniency(trajectories: Stored, verdicts: Mapping[str, Stored]) -> dict[str, dict[str, float]]:
    """Leniency of each judge over all sessions of the drop, by criterion."""
    columns = ["trajectory_id", "subject", "outcome", "scores"]
    by_judge = {judge: Aligned(table.rows(columns)) for judge, table in verdicts.items()}
    leniency = Leniency(list(verdicts))
    criteria: set[str] = set()
    for trajectory_id in trajectories.values("trajectory_id"):
        own = {judge: rows.at(trajectory_id) for judge, rows in by_judge.items()}
        for judges in _subjects(own).values():
            for criterion, scores in panel_scores(judges).items():
                leniency.add(criterion, scores)
                criteria.add(criterion)
    return {criterion: leniency.effects(criterion) for criterion in criteria}


def _evidence(trajectory: Trajectory, measure: Similarity, say: Callable[[str], object]) -> SessionEvidence:
    seen = SessionEvidence(trajectory, measure)
    try:
        _ = seen.reactions, seen.drift
    except SimilarityUnavailable as problem:
        say(f"{trajectory.id}: {problem}; comparing character n-grams instead")
        return SessionEvidence(trajectory, LexicalSimilarity())
    return seen
