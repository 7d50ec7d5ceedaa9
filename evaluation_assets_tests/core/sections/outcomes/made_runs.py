"""Runs of made-up tasks for models of outcomes."""

import random
from collections.abc import Mapping

import numpy as np

from evaluation_assets.core.sections.outcomes.traits import BUCKETS, Traits, hashes


def a_run(
    task: str,
    figures: Mapping[str, float] | None = None,
    *,
    answer: str = "",
    changes: tuple[str, ...] = (),
    calls: tuple[str, ...] = (),
) -> Traits:
    words = answer.split()
    return Traits(
        task_id=task,
        figures=figures or {},
        ngrams=hashes(words, BUCKETS),
        answer=hashes(words),
        changes=hashes(changes),
        calls=hashes((*changes, *calls)),
        claims_success=True,
    )


def noise(seed: int, tasks: int = 25, trials: int = 4) -> list[Traits]:
    """Runs whose traits depend on the task, as those of real runs do, and on nothing else."""
    draw = random.Random(seed)
    runs = []
    for task in range(tasks):
        length = draw.gauss(3, 0.5)
        for _ in range(trials):
            words = " ".join(draw.choice("alpha beta gamma delta done order sent") for _ in range(8))
            figures = {name: length + draw.gauss(0, 0.3) for name in ("steps", "calls", "characters")}
            runs.append(a_run(f"task {task}", figures, answer=words, calls=(f"look {draw.random():.1f}",)))
    return runs


def drawn(seed: int, count: int, share: float = 0.5) -> list[bool]:
    """Outcomes that nothing explains."""
    return (np.random.RandomState(seed).random(count) < share).tolist()
