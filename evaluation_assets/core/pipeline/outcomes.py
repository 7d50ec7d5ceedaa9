"""Outcomes of runs without a recorded one, predicted from runs of the same suite or agent that have one."""

import logging
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored, Stream
from evaluation_assets.core.lake.tables import FINDINGS, PREDICTED_OUTCOMES, RAW_TRAJECTORIES
from evaluation_assets.core.sections.findings.gathering import ABOUT_OUTCOME
from evaluation_assets.core.sections.outcomes.agreement import agreements
from evaluation_assets.core.sections.outcomes.model import LEAST_AUROC, OutcomeModel, fit, too_few
from evaluation_assets.core.sections.outcomes.prediction import is_likely_failure
from evaluation_assets.core.sections.outcomes.traits import Traits, traits_of
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

OUTCOMES_VERSION = "4"
"""Increment when the same runs would give other predictions."""

MOST_RUNS = 2000
"""Runs that a model is fitted on."""

MOST_DROPS = 500
"""Drops that are searched for runs with an outcome: this one, those in its folder, others; last names first."""

_BATCH = 1000
"""Runs that are compared with each other: not all of a big drop are in memory."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Training:
    """Runs with a recorded outcome, whose they are, their model, and the `reason` for which it may not be shown.

    `left_out` counts those that are not used, because a run without an outcome has the same text.
    """

    pool: str
    runs: list[Traits]
    model: OutcomeModel | None
    reason: str | None
    left_out: int = 0


def predicted_outcomes(home: Installation, drop: str) -> Stream:
    """Rows of `predicted_outcomes`, by a model fitted to what the lake has: the same tables give the same rows."""
    raw = home.table(drop, RAW_TRAJECTORIES.name)
    if all(success is not None for success in raw.values("success")):
        return Stream.of(PREDICTED_OUTCOMES, [], lambda: {"runs": 0, "reason": "all have an outcome"})
    training = training_of(home, drop)
    counts = {"runs": 0, "likely_failed": 0}

    def rows() -> Iterator[Row]:
        unknown = _runs(raw, home.table(drop, FINDINGS.name), has_outcome=False)
        for batch in chunks(unknown, _BATCH):
            for row in _rows(drop, batch, training):
                counts["runs"] += 1
                counts["likely_failed"] += is_likely_failure(row["success_probability"])
                yield row

    return Stream.of(PREDICTED_OUTCOMES, rows(), lambda: {**counts, **_told(training)})


def training_of(home: Installation, drop: str) -> Training:
    """The runs with a recorded outcome of the drop's suite, else of its agent, else of the drop, and their model."""
    pool, drops = _pool(home, drop)
    chosen: list[str] = []
    known: list[tuple[bool, str]] = []
    for each, outcomes in without_damaged(drops, lambda each: (each, _outcomes(home, each)), _log.warning):
        if outcomes:
            chosen.append(each)
            known += outcomes
        if len(known) >= MOST_RUNS:
            break
    del known[MOST_RUNS:]
    if why := too_few([success for success, _ in known], [task for _, task in known]):
        return Training(pool, [], None, why)
    read: list[_Run] = []
    for runs in without_damaged(chosen, lambda each: list(islice(_known(home, each), MOST_RUNS)), _log.warning):
        read += runs
    # A run may be dropped again once its outcome is known. A model that was fitted on it has nothing to say of it.
    unknown = _texts_without_outcome(home.table(drop, RAW_TRAJECTORIES.name))
    usable = [run for run in read if run.digest not in unknown]
    left_out = len(read) - len(usable)
    del usable[MOST_RUNS:]
    traits, succeeded = [run.traits for run in usable], [run.success is True for run in usable]
    if why := too_few(succeeded, [run.task_id for run in traits]):
        return Training(pool, [], None, why, left_out)
    model = fit(traits, succeeded)
    reached = f"the AUROC is at least {model.auroc.low:.2f}, and has to be above {LEAST_AUROC}"
    return Training(pool, traits, model, None if model.is_trusted else reached, left_out)


def _pool(home: Installation, drop: str) -> tuple[str, list[str]]:
    """Whose runs are used, and the drops that have them; this one is the first, and then those of its folder.

    An agent's runs on a suite are no basis for its runs elsewhere: its pool has only drops without a suite.
    """
    own = _sidecar(home, drop)
    wanted = (own.suite, own.agent) if own.suite is None else (own.suite,)
    if wanted == (None, None):
        return f"drop {drop}", [drop]
    folder = drop.rpartition("/")[0]
    others = [each for each in home.drops_with(RAW_TRAJECTORIES.name) if each != drop]
    others.sort(key=lambda each: (each.rpartition("/")[0] == folder, each), reverse=True)
    sidecars = without_damaged(others[: MOST_DROPS - 1], lambda each: (each, _sidecar(home, each)), _log.warning)
    alike = [each for each, sidecar in sidecars if (sidecar.suite, sidecar.agent)[: len(wanted)] == wanted]
    return f"agent {own.agent}" if own.suite is None else f"suite {own.suite}", [drop, *alike]


def _sidecar(home: Installation, drop: str) -> Sidecar:
    return DropFacts.of(home.table(drop, RAW_TRAJECTORIES.name)).sidecar


def _outcomes(home: Installation, drop: str) -> list[tuple[bool, str]]:
    """Outcome and task of the runs of a drop with a recorded outcome."""
    rows = home.table(drop, RAW_TRAJECTORIES.name).rows(["success", "task_id"])
    return [(row["success"], row["task_id"]) for row in rows if row["success"] is not None]


@dataclass(frozen=True, slots=True)
class _Run:
    trajectory_id: str
    success: bool | None
    digest: bytes
    traits: Traits


def _texts_without_outcome(raw: Stored) -> Set[bytes]:
    """Digests of the texts of the runs that have no recorded outcome."""
    return {_digest(row["text"]) for row in raw.rows(["success", "text"]) if row["success"] is None}


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _known(home: Installation, drop: str) -> Iterator[_Run]:
    """The runs of a drop with a recorded outcome."""
    return _runs(home.table(drop, RAW_TRAJECTORIES.name), home.table(drop, FINDINGS.name), has_outcome=True)


def _runs(raw: Stored, findings: Stored, *, has_outcome: bool) -> Iterator[_Run]:
    aligned = Aligned(findings.rows(["trajectory_id", "kind", "severity", "detector"]))
    for row in raw.rows(["trajectory_id", "success", *TREE_AND_TEXT]):
        own = aligned.at(row["trajectory_id"])
        if (row["success"] is not None) == has_outcome:
            about_run = [(each["kind"], each["severity"]) for each in own if each["detector"] not in ABOUT_OUTCOME]
            traits = traits_of(trajectory_of(row), about_run)
            yield _Run(row["trajectory_id"], row["success"], _digest(row["text"]), traits)


def _rows(drop: str, batch: Sequence[_Run], training: Training) -> Iterator[Row]:
    runs = [run.traits for run in batch]
    model = training.model
    probabilities: Sequence[float | None] = [None] * len(runs)
    if model is not None and training.reason is None:
        probabilities = model.probabilities(runs, agreements(runs, training.runs)).tolist()
    for run, probability in zip(batch, probabilities, strict=True):
        yield {
            "drop": drop,
            "trajectory_id": run.trajectory_id,
            "task_id": run.traits.task_id,
            "success_probability": probability,
            "claims_success": run.traits.claims_success,
            "model": None if model is None else training.pool,
            "auroc": None if model is None else model.auroc.value,
            "auroc_low": None if model is None else model.auroc.low,
            "training_runs": 0 if model is None else model.runs,
            "training_tasks": 0 if model is None else model.tasks,
        }


def _told(training: Training) -> Row:
    """What the materialisation says of the model."""
    model = training.model
    fitted: Row = (
        {}
        if model is None
        else {
            "auroc": model.auroc.value,
            "auroc_low": model.auroc.low,
            "training_runs": model.runs,
            "training_tasks": model.tasks,
        }
    )
    reason = {} if training.reason is None else {"reason": f"no predictions: {training.reason}"}
    left_out = {"left_out_of_training": training.left_out} if training.left_out else {}
    return {"model": training.pool, **fitted, **left_out, **reason}
