"""What judging took, in words."""

import pytest

from evaluation_assets.core.judging.model_use import ModelUse, model_use
from evaluation_assets.core.judging.tally import COUNTED, Tally
from evaluation_assets.core.lake.row import Row


@pytest.mark.parametrize(
    ("cost", "unpriced", "uncounted", "said"),
    [
        (0.5, 0, 0, "cost $0.5000"),
        (0.5, 2, 0, "cost at least $0.5000"),
        (0.5, 0, 1, "cost at most $0.5000"),
        (0.5, 2, 1, "cost about $0.5000"),
        (0.0, 0, 0, "cost $0.0000"),
        (0.0, 2, 0, "cost unknown"),
        (None, 2, 0, "cost unknown"),
    ],
)
def test_a_cost_says_whether_it_is_a_bound(cost: float | None, unpriced: int, uncounted: int, said: str) -> None:
    used = ModelUse("local", 2, 0, uncounted, unpriced, input_tokens=10, output_tokens=1, cost_usd=cost)
    assert used.text.endswith(f" out, {said}")


@pytest.mark.parametrize(
    ("tokens", "uncounted", "said"),
    [
        ((10, 1), 0, "10 tokens in, 1 out"),
        ((10, 0), 0, "10 tokens in, 0 out"),
        ((10, 1), 1, "at least 10 tokens in, at least 1 out"),
        ((10, 0), 2, "at least 10 tokens in, unknown out"),
        ((0, 0), 2, "tokens unknown"),
    ],
)
def test_tokens_of_which_nothing_is_known_are_unknown(tokens: tuple[int, int], uncounted: int, said: str) -> None:
    used = ModelUse("local", 2, uncounted=uncounted, input_tokens=tokens[0], output_tokens=tokens[1], cost_usd=0.5)
    assert used.text == f"2 requests, {said}, cost {'at most ' if uncounted else ''}$0.5000"


def test_the_metadata_of_a_table_has_no_tokens_that_are_unknown() -> None:
    row: Row = dict.fromkeys(COUNTED) | {"outcome": "scored", "from_ledger": False, "attempts": 1}
    unknown, known = Tally(), Tally()
    unknown.add(row)
    known.add(row | {"input_tokens": 7, "cached_tokens": 0, "output_tokens": 0})
    assert not unknown.metadata().keys() & {"input_tokens", "cached_tokens", "output_tokens"}
    assert [known.metadata()[name] for name in ("input_tokens", "cached_tokens", "output_tokens")] == [7, 0, 0]
    (used,) = model_use({"clip_verdicts/one_clip_verdicts": unknown.metadata()})
    assert used.text == "1 request, tokens unknown, cost unknown"


def test_a_request_that_was_refused_is_no_reply_of_unknown_cost() -> None:
    tally = Tally()
    tally.add(
        dict.fromkeys(COUNTED) | {"outcome": "failed", "error_kind": "server", "from_ledger": False, "attempts": 3}
    )
    assert (tally.calls, tally.uncounted, tally.unpriced) == (3, 0, 0)
