"""The cost of a run that records its model and tokens and no cost: a list price where it is certain, else unknown."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.prices import list_price_of
from evaluation_assets_tests.coding_sessions import CodexSession, read
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.traces.formats.readers.summaries import written
from evaluation_assets_tests.core.traces.formats.reading import trajectories

MINI, SONNET = "gpt-4o-mini", "claude-sonnet-4-5"
ASKED, SAID = {"role": "user", "content": "Price of tea?"}, {"role": "assistant", "content": "2 euros."}
TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
PRICE = (1000 * 0.15 + 100 * 0.6) / 1e6


def record(**more: Any) -> dict[str, Any]:
    return {"model": MINI, "messages": [ASKED, SAID], "usage": TOKENS, **more}


def state(*models: str, **counts: int) -> dict[str, Any]:
    """A state of LangGraph with an answer of each model."""
    used = {"input_tokens": 1000, "output_tokens": 100} | counts
    answers = [
        {"type": "ai", "content": "2 euros.", "usage_metadata": used, "response_metadata": {"model_name": model}}
        for model in models
    ]
    return {"values": {"messages": [{"type": "human", "content": "Price of tea?"}, *answers]}}


def priced(tmp_path: Path, data: dict[str, Any]) -> tuple[float | None, bool]:
    (run,) = trajectories(written(tmp_path, data))
    assert run.usage is not None
    return run.usage.cost_usd, run.usage.is_list_price


@pytest.mark.parametrize(
    "data",
    [
        record(),
        record(metadata={"llm": f"openai/{MINI}-2024-07-18"}),
        record(model=f"openai/{MINI}"),
        record(model=f"azure/{MINI}", metadata={"llm": f"openai:{MINI}"}),
        state(MINI),
        {"messages": [ASKED, SAID | {"model": MINI, "usage": TOKENS}]},
        {
            "request": {"model": MINI, "messages": [ASKED]},
            "response": {"model": f"{MINI}-2024-07-18", "choices": [{"message": SAID}], "usage": TOKENS},
        },
    ],
)
def test_tokens_of_one_model_have_its_list_price_which_is_said(tmp_path: Path, data: dict[str, Any]) -> None:
    assert priced(tmp_path, data) == (pytest.approx(PRICE), True)
    printed = command("import", tmp_path / "drop.jsonl", home=tmp_path / "home").stdout
    assert "cost $0.0002 at list prices" in printed


@pytest.mark.parametrize(
    "data",
    [
        {"messages": [ASKED, SAID | {"model": MINI, "usage": TOKENS}, ASKED, SAID | {"usage": TOKENS}]},
        record(model="house-model"),
        record(usage={"prompt_tokens": 1000}),
        record(metadata={"judge_model": "gpt-4o"}),
        record(model_usage={MINI: TOKENS, "gpt-4o": TOKENS}),
        state(MINI, "house-model"),
    ],
)
def test_tokens_that_may_be_of_other_models_have_no_cost(tmp_path: Path, data: dict[str, Any]) -> None:
    assert priced(tmp_path, data) == (None, False)


def test_each_answer_has_the_price_of_the_model_that_its_message_names(tmp_path: Path) -> None:
    asked = {"type": "human", "content": "Price of tea?"}
    answers = state(MINI, "gpt-4o")["values"]["messages"][1:]
    data = {
        "messages": [asked, *({**said, "name": name} for said, name in zip(answers, ["desk", "till"], strict=True))]
    }
    (run,) = trajectories(written(tmp_path, data))
    assert {agent.id: agent.model for agent in run.agents} == {"desk": MINI, "till": "gpt-4o"}
    assert run.usage is not None
    assert run.usage.cost_usd == pytest.approx(PRICE + (1000 * 2.5 + 100 * 10) / 1e6)
    calls = [{**SAID, "model": MINI, "usage": TOKENS}, ASKED, {**SAID, "model": "gpt-4o", "usage": TOKENS}]
    assert priced(tmp_path, {"messages": [ASKED, *calls]}) == (run.usage.cost_usd, True)


def test_a_recorded_cost_is_not_replaced(tmp_path: Path) -> None:
    assert priced(tmp_path, record(cost_usd=0.5)) == (0.5, False)


def test_tokens_in_the_cache_have_their_own_price(tmp_path: Path) -> None:
    usage = {**TOKENS, "prompt_tokens_details": {"cached_tokens": 400}}
    assert priced(tmp_path, record(usage=usage)) == (pytest.approx(PRICE - 400 * 0.075 / 1e6), True)


def test_tokens_of_all_requests_have_no_price_that_depends_on_the_size_of_each(tmp_path: Path) -> None:
    cliff = list_price_of(SONNET).cliff
    assert cliff is not None
    usage = {"prompt_tokens": cliff - 1, "completion_tokens": 0}
    assert priced(tmp_path, record(model=SONNET, usage=usage)) == (pytest.approx((cliff - 1) * 3 / 1e6), True)
    assert priced(tmp_path, record(model=SONNET, usage={**usage, "prompt_tokens": cliff + 1})) == (None, False)
    two_requests = state(SONNET, SONNET, input_tokens=cliff - 1, output_tokens=0)
    assert priced(tmp_path, two_requests) == (pytest.approx(2 * (cliff - 1) * 3 / 1e6), True)


def test_a_session_has_the_prices_of_the_models_of_its_requests_if_all_are_known(tmp_path: Path) -> None:
    session = CodexSession(model=MINI).user("Go.").says("One.").used(1000, 100)
    session.now_with(SONNET).says("Two.").used(3000, 150)
    used = read(tmp_path, session.text(), "codex").usage
    assert used is not None
    assert (used.cost_usd, used.is_list_price) == (pytest.approx(PRICE + (2000 * 3 + 50 * 15) / 1e6), True)
    used = read(tmp_path, session.now_with("house-model").says("Three.").used(4000, 200).text(), "codex").usage
    assert used is not None and used.cost_usd is None


def test_requests_with_a_recorded_cost_keep_it_where_others_have_a_list_price(tmp_path: Path) -> None:
    counted = {"usage": TOKENS, "model": MINI}
    answers = [SAID | counted | {"usage": TOKENS | {"cost": 0.5}}, SAID | counted]
    run = {"messages": [ASKED, answers[0], ASKED, answers[1]]}
    assert priced(tmp_path, run) == (pytest.approx(0.5 + PRICE), True)
