"""Numbers about the calls of a run. Each is a pure function; `None` means that the number does not apply."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean
from typing import Any

from evaluation_assets.core.suites.calls import Call, same_tool
from evaluation_assets.core.suites.matching import Alignment
from evaluation_assets.core.suites.refusals import is_refusal
from evaluation_assets.core.suites.suite import ExpectedCall
from evaluation_assets.core.system.frozen import Frozen

RECOVERY_WINDOW = 3
"""Calls after an error within which a success of the same tool counts as recovery."""

TOLERANCE = 1e-9
"""How far below a threshold a score still reaches it: a mean that is 0.8 may come out as 0.7999999999999999."""

_THOUSANDS = re.compile(r"(?<=\d)[,'’\u202f\u00a0](?=\d{3}(?!\d))")
"""Separators in numbers."""

LOOP_REPEATS = 3
_LONGEST_LOOP = 3


def reaches(score: float, least: float) -> bool:
    """Whether a score is at least `least`, but for rounding. Every threshold of a score is compared here."""
    return score >= least - TOLERANCE


@dataclass(frozen=True, slots=True)
class Selection:
    """Whether the right tools were called, 0..1, from the one-to-one alignment.

    precision = pairs / calls, `None` without a call; recall = pairs / expected calls, `None` without one;
    f1 = 2 pairs / (calls + expected calls).
    """

    precision: float | None
    recall: float | None
    f1: float | None


def selection(n_expected: int, n_calls: int, pairs: int) -> Selection:
    """Precision, recall and F1 of calls."""
    return Selection(
        precision=pairs / n_calls if n_calls else None,
        recall=pairs / n_expected if n_expected else None,
        f1=2 * pairs / (n_calls + n_expected) if n_calls + n_expected else None,
    )


def parameter_accuracy(alignment: Alignment, wrong_value_credit: float = 0) -> float | None:
    """Mean over matched calls of the share of parameters that are right.

    Calls without parameters to check are left out, and so are missing calls: they lower recall already.
    """
    shares = [share for pair in alignment.pairs if (share := pair.comparison.accuracy(wrong_value_credit)) is not None]
    return fmean(sorted(shares)) if shares else None


def coverage(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> float | None:
    """Share of the expected tools that were called at all, in any order."""
    tools = sorted({want.tool for want in expected})
    if not tools:
        return None
    return sum(any(same_tool(tool, call.name) for call in calls) for tool in tools) / len(tools)


def order(alignment: Alignment, n_expected: int) -> float | None:
    """Longest common subsequence of tools over the number of expected calls: 1 when all come in their order."""
    return alignment.lcs / n_expected if n_expected else None


def edit_similarity(alignment: Alignment, n_expected: int, n_calls: int) -> float | None:
    """1 - (insertions + deletions) / (calls + expected calls), for sequences of tools (normalised Indel similarity)."""
    return 2 * alignment.lcs / (n_expected + n_calls) if n_expected + n_calls else None


def keyword_score(keywords: Sequence[str], answer: str | None) -> tuple[float | None, tuple[str, ...]]:
    """Share of the keywords that the answer contains, and the ones it lacks.

    Case does not matter, nor do thousands separators where the keyword has none.
    """
    text = (answer or "").casefold()
    plain = _THOUSANDS.sub("", text)
    missing = tuple(
        keyword for keyword in keywords if (folded := keyword.casefold()) not in text and folded not in plain
    )
    return ((len(keywords) - len(missing)) / len(keywords) if keywords else None), missing


def completed(answer: str | None, *, cut_off: bool) -> bool:
    """Whether there is a final answer, it neither refuses nor reports failure, and the run was not cut off.

    A short answer is an answer.
    """
    return bool(answer and answer.strip()) and not cut_off and not is_refusal(answer or "")


def efficiency(optimal_steps: int | None, n_calls: int, *, made_progress: bool = True) -> float | None:
    """min(1, optimal / actual calls); 0 where calls are needed and none of them was made.

    `None` where no call is needed and none was made: nothing was done that could be efficient.
    """
    if optimal_steps is None or not (optimal_steps or n_calls):
        return None
    return min(1.0, optimal_steps / n_calls) if n_calls and made_progress else 0.0


def conformance(useful: int | None, defective: int) -> float | None:
    """Calls that are of use and agree with their tool's definition, over these and all that do not agree.

    Only expected calls are of use, so that no other call can raise it; `None` without a call that counts. `useful` is
    `None` where a case says nothing about calls: then defective ones are weighed against one good call.
    """
    kept = 1 if useful is None else useful
    return kept / (kept + defective) if kept + defective else None


def redundancy(calls: Sequence[Call]) -> float | None:
    """Share of calls that repeat an earlier one, arguments and result included: what they brought was known."""
    if not calls:
        return None
    return 1 - len({(call.key, call.result) for call in calls}) / len(calls)


@dataclass(frozen=True, slots=True)
class Loop:
    """The same one to three calls again and again with the same results: where it starts, and how often."""

    start: int
    length: int
    repeats: int


def loops(calls: Sequence[Call]) -> list[Loop]:
    """Stretches in which a sequence of at most three calls comes at least three times in a row, results unchanged."""
    return loops_in([(call.key, call.result) for call in calls])


def loops_in(keys: Sequence[object]) -> list[Loop]:
    """Stretches in which a sequence of at most three of these comes at least three times in a row."""
    repeated: list[Loop] = []
    position = 0
    while position < len(keys):
        best = max((_loop_at(keys, position, length) for length in range(1, _LONGEST_LOOP + 1)), key=_covered)
        if best.repeats >= LOOP_REPEATS:
            repeated.append(best)
            position += best.length * best.repeats
        else:
            position += 1
    return repeated


def _loop_at(keys: Sequence[object], start: int, length: int) -> Loop:
    repeats = 1
    while keys[start : start + length] == keys[start + repeats * length : start + (repeats + 1) * length]:
        repeats += 1
    return Loop(start, length, repeats)


def _covered(loop: Loop) -> int:
    return loop.length * loop.repeats if loop.repeats >= LOOP_REPEATS else 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """Errors of tools, and how many were followed by a success of the same tool."""

    errors: int
    recovered: int

    @property
    def rate(self) -> float | None:
        """Share of errors that were recovered from."""
        return self.recovered / self.errors if self.errors else None


def recovery(calls: Sequence[Call]) -> Recovery:
    """How a run went on after errors: a success of the same tool within three calls is a recovery."""
    recovered = sum(
        any(later.name == call.name and later.error is None for later in calls[index + 1 : index + 1 + RECOVERY_WINDOW])
        for index, call in enumerate(calls)
        if call.error is not None
    )
    return Recovery(sum(call.error is not None for call in calls), recovered)


_REFERENCE = re.compile(r"\$([A-Za-z_]\w*)(?:[.\[][^$]*)?\$")


def dangling_references(calls: Sequence[Call]) -> list[tuple[int, str]]:
    """References `$label.field$` in arguments to a label that no earlier call has: position of the call and label.

    Only looked for where calls have labels; elsewhere a dollar is a dollar.
    """
    if not any(call.label for call in calls):
        return []
    known: set[str] = set()
    dangling: list[tuple[int, str]] = []
    for index, call in enumerate(calls):
        for text in _texts(call.arguments):
            dangling += [(index, label) for label in _REFERENCE.findall(text) if label not in known]
        if call.label:
            known.add(call.label)
    return dangling


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


class TrialRate(Frozen):
    """Over tasks with at least k trials: pass@k, at least one of k passes, and pass^k, all k pass."""

    k: int
    pass_at: float
    pass_hat: float
    n_tasks: int


def pass_at_k(n: int, passed: int, k: int) -> float:
    """Chance that at least one of k trials passes, from `passed` of `n`: 1 - C(n - c, k) / C(n, k) (HumanEval)."""
    return 1 - comb(n - passed, k) / comb(n, k)


def pass_hat_k(n: int, passed: int, k: int) -> float:
    """Chance that all of k trials pass, from `passed` of `n`: C(c, k) / C(n, k) (tau-bench, Yao et al. 2024)."""
    return comb(passed, k) / comb(n, k)


def trial_rates(trials: Mapping[str, Sequence[bool]]) -> list[TrialRate]:
    """pass@k and pass^k for every k that all tasks have trials for; the mean is over tasks."""
    counts = [(len(passed), sum(passed)) for passed in trials.values() if passed]
    fewest = min((n for n, _ in counts), default=0)
    return [
        TrialRate(
            k=k,
            pass_at=fmean(pass_at_k(n, passed, k) for n, passed in counts),
            pass_hat=fmean(pass_hat_k(n, passed, k) for n, passed in counts),
            n_tasks=len(counts),
        )
        for k in range(1, fewest + 1)
    ]
