"""Find the optimal one-to-one matching of calls to expected calls, and compare their order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation_assets.core.suites.calls import Call, same_tool
from evaluation_assets.core.suites.comparison import CallComparison, compare_call
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.suites.suite import ExpectedCall, Match


@dataclass(frozen=True, slots=True)
class Pair:
    """A call that answers an expected call: their positions, and how the parameters agree."""

    expected: int
    call: int
    comparison: CallComparison


@dataclass(frozen=True, slots=True)
class Alignment:
    """Expected calls beside calls, each in at most one pair. `missing` and `surplus` are positions without a partner.

    `lcs` is the length of the longest sequence of tools that both have in the same order.
    """

    pairs: tuple[Pair, ...]
    missing: tuple[int, ...]
    surplus: tuple[int, ...]
    lcs: int

    @property
    def right(self) -> int:
        """Pairs with every parameter right."""
        return sum(pair.comparison.is_right for pair in self.pairs)


def align(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> Alignment:
    """The best assignment of calls to expected calls of the same tool.

    As many pairs as possible; among these, as many as possible that are right in every parameter; then the greatest
    share of right parameters; then the most that have parameters to check, and the most that are at least there, so
    that a score does not hang on the order of the calls. Greedy matching would miss pairs: it may spend a call on the
    first expectation that only fits another.
    """
    pairs: list[Pair] = []
    for wanted, made in _by_tool(expected, calls):
        compared = {(i, j): compare_call(expected[i], calls[j]) for i in wanted for j in made}
        pairs += [Pair(i, j, compared[i, j]) for i, j in _assignment(wanted, made, compared)]
    pairs.sort(key=lambda pair: pair.expected)
    answered, used = {pair.expected for pair in pairs}, {pair.call for pair in pairs}
    return Alignment(
        pairs=tuple(pairs),
        missing=tuple(index for index in range(len(expected)) if index not in answered),
        surplus=tuple(index for index in range(len(calls)) if index not in used),
        lcs=longest_common_subsequence(expected, calls),
    )


def effects(expected: Sequence[ExpectedCall], calls: Sequence[Call], alignment: Alignment) -> Alignment:
    """The best assignment of the calls that changed state; read-only and failed calls are excluded."""
    changing = [index for index, call in enumerate(calls) if call.error is None and changes_state(call.name)]
    own = align(expected, [calls[index] for index in changing])
    return replace(
        alignment,
        pairs=tuple(replace(pair, call=changing[pair.call]) for pair in own.pairs),
        missing=tuple(index for index in own.missing if changes_state(expected[index].tool)),
        surplus=tuple(changing[index] for index in own.surplus),
    )


def _by_tool(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> list[tuple[list[int], list[int]]]:
    """Positions of expected calls and of calls of the same tool; tools that were not called are left out."""
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for index, want in enumerate(expected):
        groups.setdefault(want.tool, ([], []))[0].append(index)
    taken: set[int] = set()
    for tool, (_, made) in groups.items():
        for index, call in enumerate(calls):
            if index not in taken and same_tool(tool, call.name):
                taken.add(index)
                made.append(index)
    return [group for group in groups.values() if group[1]]


def _assignment(
    wanted: list[int], made: list[int], compared: dict[tuple[int, int], CallComparison]
) -> list[tuple[int, int]]:
    if len(wanted) == len(made) == 1:
        return [(wanted[0], made[0])]
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (half a second that `--help` need not wait for)

    right = len(wanted) + 1.0
    value = [[1 + _worth(compared[i, j]) + (right if compared[i, j].is_right else 0) for j in made] for i in wanted]
    rows, columns = linear_sum_assignment(value, maximize=True)
    return [(wanted[row], made[column]) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]


def _worth(comparison: CallComparison) -> float:
    """The share of right parameters; far behind it whether there are any, and the share of those that are there."""
    share, there = comparison.accuracy(), comparison.accuracy(1)
    return 1.0 if share is None or there is None else share + 1e-6 + 1e-9 * there


def longest_common_subsequence(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> int:
    """Length of the longest sequence of tools that both have in the same order, not necessarily without gaps."""
    lengths = [0] * (len(calls) + 1)
    for want in expected:
        diagonal = 0
        for index, call in enumerate(calls, 1):
            is_same = same_tool(want.tool, call.name)
            longest = diagonal + 1 if is_same else max(lengths[index], lengths[index - 1])
            diagonal, lengths[index] = lengths[index], longest
    return lengths[-1]


def agrees(match: Match, expected: Sequence[ExpectedCall], calls: Sequence[Call], alignment: Alignment) -> bool:
    """Whether whole calls agree as `match` asks; for `same_effects` the alignment is that of `effects`."""
    if match == "exact":
        return len(expected) == len(calls) and all(
            same_tool(want.tool, call.name) and compare_call(want, call).is_right
            for want, call in zip(expected, calls, strict=True)
        )
    if match == "in_order":
        position = 0
        for want in expected:  # taking the first call that fits leaves most for the others
            position = next(
                (
                    index + 1
                    for index, call in enumerate(calls[position:], position)
                    if same_tool(want.tool, call.name) and compare_call(want, call).is_right
                ),
                len(calls) + 1,
            )
            if position > len(calls):
                return False
        return True
    if match == "any_order":
        return alignment.right == len(expected) == len(calls)
    if match == "same_effects":
        return alignment.right == len(alignment.pairs) and not alignment.missing and not alignment.surplus
    return alignment.right == (len(expected) if match == "superset" else len(calls))
