"""Conversations that go on in turn in one log, as a proxy writes the requests of all its clients."""

from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import calls_of, read
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

CITIES = ("Hue", "Vinh", "Hoi An")


def openai_log(city: str, trial: int) -> list[dict[str, Any]]:
    """The requests of a run: a question, a call, its result, and an answer."""
    call = {
        "id": f"call of {city} {trial}",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"day": 1}'},
    }
    asked = [{"role": "system", "content": "You help."}, {"role": "user", "content": f"How warm is {city}?"}]
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": f"{trial} degrees in {city}"}
    answered = {"role": "assistant", "content": f"It is {trial} degrees in {city}."}
    return [
        {"request": {"model": "m", "messages": messages}, "response": {"choices": [{"message": said}]}}
        for messages, said in ((asked, called), ([*asked, called, result], answered))
    ]


def anthropic_log(city: str, trial: int) -> list[dict[str, Any]]:
    called = {"type": "tool_use", "id": f"call of {city} {trial}", "name": "weather", "input": {"day": 1}}
    result = {"type": "tool_result", "tool_use_id": called["id"], "content": f"{trial} degrees in {city}"}
    asked = [{"role": "user", "content": f"How warm is {city}?"}]
    second = [*asked, {"role": "assistant", "content": [called]}, {"role": "user", "content": [result]}]
    answered = {"type": "text", "text": f"It is {trial} degrees in {city}."}
    return [
        {
            "request": {"model": "m", "messages": messages},
            "response": {"type": "message", "role": "assistant", "content": [part], "stop_reason": reason},
        }
        for messages, part, reason in ((asked, called, "tool_use"), (second, answered, "end_turn"))
    ]


@pytest.mark.parametrize("log", [openai_log, anthropic_log])
@pytest.mark.parametrize("order", ["in turn", "one after the other", "at random"])
def test_requests_of_conversations_in_turn_are_one_run_each(tmp_path: Path, log: Any, order: str) -> None:
    runs = [log(city, trial) for city in CITIES for trial in range(3)]
    if order == "in turn":
        requests = [one for one in chain.from_iterable(zip_longest(*runs)) if one is not None]
    elif order == "at random":
        requests = [
            *Random(1).sample([first for first, _ in runs], 9),
            *Random(2).sample([last for _, last in runs], 9),
        ]
    else:
        requests = list(chain.from_iterable(runs))
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, requests)))
    found = list(read(tmp_path))
    assert all(isinstance(run, Trajectory) for run in found)
    told = sorted((run.task, run.final_answer, *(result for _, _, result in calls_of(run))) for run in found)  # type: ignore[union-attr,arg-type]
    assert told == sorted(
        (f"How warm is {city}?", f"It is {trial} degrees in {city}.", f"{trial} degrees in {city}")
        for city in CITIES
        for trial in range(3)
    )


def test_calls_of_many_conversations_in_turn_are_counted_once(tmp_path: Path) -> None:
    runs = [openai_log("Da Nang", trial) for trial in range(100)]
    near = [runs[first : first + 20] for first in range(0, 100, 20)]
    requests = [request for some in near for place in (0, 1) for request in (run[place] for run in some)]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, requests)))
    summary = summary_of(tmp_path)
    assert (summary.trajectories, summary.calls, summary.calls_in_source, summary.trust) == (100, 100, 100, "complete")


def test_results_that_later_requests_repeat_are_counted_once(tmp_path: Path) -> None:
    placed: list[tuple[int, dict[str, Any]]] = []
    for trial in range(100):
        first, last = openai_log("Da Nang", trial)
        answer, asked = last["response"]["choices"][0]["message"], {"role": "user", "content": "And tomorrow?"}
        more = {"request": {"model": "m", "messages": [*last["request"]["messages"], answer, asked]}}
        said = {"choices": [{"message": {"role": "assistant", "content": "Warmer."}}]}
        placed += [(trial, first), (trial + 15, last), (trial + 30, {**more, "response": said})]
    log = [request for _, request in sorted(placed, key=lambda one: one[0])]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, log)))
    summary = summary_of(tmp_path)
    assert (summary.trajectories, summary.results, summary.results_in_source) == (100, 100, 100)
    assert summary.trust == "complete"
