"""Families of tasks, whose differences are correlated: those that gate.yaml names, and those that it should name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex
import scipy

from evaluation_assets.core.gating.pairs import Pairs
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.scoring.intervals import clustered
from evaluation_assets.core.suites.bounded import PATTERN_SECONDS
from evaluation_assets.core.text.user_error import UserError

_PATTERNS = (
    r"^(.+?)[-_./:#\s]*\d+$",
    r"^(.+)[-_./:#\s][^-_./:#\s]+$",
    r"^([^-_./:#\s]+)[-_./:#\s]",
)
"""How the names of variants of a task are usually made: a number at the end, a last part, a first part.

None has a space: a terminal breaks lines there, and people copy them."""

FEW = 10
"""Families, below which a test over them can hardly find a decrease: its interval has less than nine degrees of
freedom, and a decrease may be that of one family."""

_SUSPECT = 0.01
"""Significance level of a suspicion. It decides nothing, but a note on every tenth gate would not be read."""


@dataclass(frozen=True, slots=True)
class SuspectedFamilies:
    """Tasks whose IDs match `pattern` alike change together: `correlation` is the intra-class correlation."""

    metric: str
    pattern: str
    families: int
    correlation: float


def families_of(tasks: Sequence[str], pattern: str) -> list[str]:
    """The family of each task: the match of `pattern` in its ID. A task without a match is a family of its own.

    Raises:
        UserError: to look for it takes too long.
    """
    expression = regex.compile(pattern)
    return [_family_of(task, expression) for task in tasks]


def _family_of(task: str, expression: regex.Pattern[str]) -> str:
    try:
        match = expression.search(task, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise UserError(
            f"gate.yaml: gate.task_family: {expression.pattern!r} takes longer than {PATTERN_SECONDS:g} s "
            f"in the task {task[:80]!r}; write it without repetitions of repetitions"
        ) from None
    return f"task {task}" if match is None else match.group(1 if expression.groups else 0)


def error_over_families(pairs: Pairs, settings: GateSettings) -> tuple[float, int] | None:
    """Standard error and degrees of freedom over families of tasks; `None` without families, or with one alone."""
    if settings.task_family is None:
        return None
    _, error, degrees = clustered(pairs.differences, families_of(pairs.tasks, settings.task_family))
    return (error, degrees) if degrees > 0 else None


def suspected_families(pairs: Pairs) -> SuspectedFamilies | None:
    """Families that the IDs of tasks suggest and whose differences are correlated, the most correlated first.

    The test is the F-test of a one-way analysis of variance of the differences by family, the correlation its ICC(1):
    Shrout and Fleiss, Psychological Bulletin 86 (1979).
    """
    suspected = [each for pattern in _PATTERNS if (each := _tested(pairs, pattern)) is not None]
    return max(suspected, key=lambda each: each.correlation, default=None)


def _tested(pairs: Pairs, pattern: str) -> SuspectedFamilies | None:
    differences = pairs.differences
    try:
        _, members = np.unique(families_of(pairs.tasks, pattern), return_inverse=True)
    except UserError:  # an ID is so long that nobody would name families by it
        return None
    sizes = np.bincount(members)
    n, count = len(differences), len(sizes)
    if count < 3 or n < 1.5 * count:
        return None
    means = np.bincount(members, differences) / sizes
    between = float((sizes * (means - differences.mean()) ** 2).sum()) / (count - 1)
    within = float(((differences - means[members]) ** 2).sum()) / (n - count)
    if between <= 0 or within <= 0 or scipy.special.fdtrc(count - 1, n - count, between / within) > _SUSPECT:
        return None
    typical = (n - float((sizes**2).sum()) / n) / (count - 1)
    correlation = (between - within) / (between + (typical - 1) * within)
    return SuspectedFamilies(pairs.metric, pattern, count, correlation)
