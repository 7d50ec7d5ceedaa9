"""A total of which the source lacks a part is unknown: what some answers used is no total of the run."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, chat, otlp, returned, said, span

USED = {"prompt_tokens": 10, "completion_tokens": 2}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "ok"}
ASKED = {"role": "user", "content": "Hi"}


def openai(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    answer = {"role": "assistant", "content": "bye"}
    return [{"messages": [ASKED, {**CALLED, **first}, RESULT, {**answer, **second}]}]


def anthropic(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    shown = {"type": "tool_result", "tool_use_id": "1", "content": "ok"}
    said = {"type": "text", "text": "bye"}
    return [
        {
            "messages": [
                ASKED,
                {"role": "assistant", "content": [call], **first},
                {"role": "user", "content": [shown]},
                {"role": "assistant", "content": [said], **second},
            ]
        }
    ]


def requests(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    answers = [{"role": "assistant", "content": text} for text in ("a", "b")]
    given = [[ASKED], [ASKED, answers[0], {"role": "user", "content": "And b?"}]]
    return [
        {"request": {"messages": messages}, "response": {"choices": [{"message": answer}], **used}}
        for messages, answer, used in zip(given, answers, (first, second), strict=True)
    ]


def steps(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    acted = [{"action": "look", "arguments": {}, "result": "nothing", **used} for used in (first, second)]
    return [{"task": "Hi", "steps": acted, "answer": "bye"}]


def responses(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
    answers = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]
    return [
        {
            "request": {"input": "Hi", "previous_response_id": before},
            "response": {"object": "response", "id": name, "previous_response_id": before, "output": answers}
            | {key: {names[count]: tokens for count, tokens in value.items()} for key, value in used.items()},
        }
        for name, before, used in (("r1", None, first), ("r2", "r1", second))
    ]


def gemini(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}, *before]},
            "response": {
                "candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}],
                **({"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2}} if used else {}),
            },
        }
        for before, used in (
            ([], first),
            ([{"role": "model", "parts": [{"text": "a"}]}, {"role": "user", "parts": [{"text": "b?"}]}], second),
        )
    ]


@pytest.mark.parametrize("source", [openai, anthropic, requests, steps, responses, gemini])
@pytest.mark.parametrize("lacking", [0, 1])
def test_a_run_of_which_one_answer_has_no_tokens_has_no_total(tmp_path: Path, source: Any, lacking: int) -> None:
    usages: list[dict[str, Any]] = [{"usage": USED}, {"usage": USED}]
    (whole,) = trajectories(written(tmp_path, *source(*usages)))
    assert whole.usage == Usage(input_tokens=20, output_tokens=4)
    usages[lacking] = {}
    path = written(tmp_path, *source(*usages))
    (run,) = trajectories(path)
    summary = summary_of(path)
    assert run.usage is None
    assert (summary.trust, summary.input_tokens, summary.counted) == ("partial", None, 0)
    assert "1 answer of 2 without tokens" in summary.sentence


def test_a_trace_of_which_one_span_has_no_tokens_has_no_total(tmp_path: Path) -> None:
    inputs: list[Any] = [said("user", "Hi")]
    counted = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
    first = span("a", chat(inputs, [asked_for("1", "f")], **counted))
    inputs = [*inputs, asked_for("1", "f"), returned("1", "ok")]
    second = span("b", chat(inputs, [said("assistant", "bye")]), start=1)
    path = otlp(tmp_path / "otlp.json", first, second)
    (run,) = trajectories(path)
    assert run.usage is None
    assert summary_of(path).sentence == "partial: 1 answer of 2 without tokens"


def test_a_greeting_that_no_model_wrote_has_no_tokens_to_lack(tmp_path: Path) -> None:
    greeting = {"role": "assistant", "content": "Hello!"}
    (record,) = openai({"usage": USED}, {"usage": USED})
    (run,) = trajectories(written(tmp_path, {"messages": [greeting, *record["messages"]]}))
    assert run.usage == Usage(input_tokens=20, output_tokens=4)


def test_a_cost_that_the_record_states_stays_where_its_tokens_are_partly_unknown(tmp_path: Path) -> None:
    (record,) = openai({"usage": USED}, {})
    (run,) = trajectories(written(tmp_path, {**record, "cost": 0.25}))
    assert run.usage == Usage(cost_usd=0.25)


@pytest.mark.parametrize("tokens", [10**15, 9007199254740993])
def test_of_an_impossible_usage_nothing_is_known_and_that_is_told(tmp_path: Path, tokens: int) -> None:
    answer = {"role": "assistant", "content": "Hi!", "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
    path = written(tmp_path, {"messages": [ASKED, answer]})
    (run,) = trajectories(path)
    assert run.usage is None
    assert "prompt_tokens" in summary_of(path).sentence


@pytest.mark.parametrize(
    ("prompt", "total", "whole"),
    [
        (79_874, 81_392, 80_037),  # without what was written to the cache
        (80_037, 81_555, 80_037),
        (3, 1_521, 80_037),
        (80_037, 161_589, 160_071),  # the total says that the prompt is without both
    ],
)
def test_cached_tokens_that_a_prompt_may_have_within_it_count_once(prompt: int, total: int, whole: int) -> None:
    stated = {"prompt_tokens": prompt, "completion_tokens": 1_518, "total_tokens": total}
    fields = Fields({**stated, "cache_read_input_tokens": 79_871, "cache_creation_input_tokens": 163})
    used = usage_of(fields)
    assert used is not None
    assert (used.input_tokens, used.cached_tokens, used.cache_write_tokens) == (whole, 79_871, 163)
