"""Results of promptfoo: each with the prompt that was sent, the output, and what the assertions said of it.

The outputs of providers differ: a text, calls as OpenAI has them, or blocks as Anthropic prints them into the text.
Providers that are agents list their calls in the metadata, without what was said between them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    decoded,
    first_text,
    list_in,
    object_in,
    objects_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_BROKEN = 2
"""The reason of a failure that is an error of the provider, and no judgement of its output."""

_COUNTED = ("successes", "failures", "errors")
_READ = (
    "testCase", "testIdx", "promptIdx", "prompt", "promptId", "provider", "response", "vars", "success", "score",
    "error", "failureReason", "gradingResult", "namedScores", "latencyMs", "cost", "tokenUsage", "metadata", "id",
    "description",
)  # fmt: skip


def _holds(data: Any) -> bool:
    return any(map(_is_result, _results(data)))


def _results(data: Any) -> list[Any]:
    """The results of an evaluation, which stand in a file with its settings, or on lines of their own."""
    inside = at(at(data, "results"), "results")
    return list_in(inside) if inside is not None else [data]


def _is_result(data: Any) -> bool:
    return {"promptIdx", "testIdx", "success", "prompt"} <= object_in(data).keys() and "raw" in object_in(
        data["prompt"]
    )


def _conversations(data: JsonObject) -> Iterator[Chat]:
    results = [result for result in _results(data) if _is_result(result)]
    stated: Mapping[str, tuple[float, float]] = _totals(object_in(at(data.get("results"), "stats")), results)
    for result in results:
        yield _chat(result, stated)
        stated = {}


def _totals(stats: JsonObject, results: list[JsonObject]) -> Mapping[str, tuple[float, float]]:
    """What the statistics of an evaluation count, and what its results have of it."""
    counts = [count for name in _COUNTED if isinstance(count := stats.get(name), int)]
    totals = {"result": (sum(counts), len(results))} if counts else {}
    of_results = list(map(_tokens, results))
    for name, what in (("prompt", "input token"), ("completion", "output token")):
        if total := at(stats.get("tokenUsage"), name):
            totals[what] = (total, sum(tokens.get(name) or 0 for tokens in of_results))
    return totals


def _tokens(result: JsonObject) -> JsonObject:
    return object_in(at(result.get("response"), "tokenUsage")) or object_in(result.get("tokenUsage"))


def _chat(result: JsonObject, stated: Mapping[str, tuple[float, float]]) -> Chat:
    response, case = object_in(result.get("response")), object_in(result.get("testCase"))
    broken = result.get("failureReason") == _BROKEN or ("output" not in response and "error" in response)
    provider = first_text(result.get("provider"), "label") or first_text(result.get("provider"), "id")
    record = {
        **without(result, *_READ),
        "id": first_text(result, "id"),
        "task_id": result["testIdx"],
        "model": provider,
        "success": None if broken else result["success"],
        "duration_s": latency / 1000 if isinstance(latency := result.get("latencyMs"), int | float) else None,
        "scores": without_none({"score": result.get("score"), **object_in(result.get("namedScores"))}),
        "feedback": first_text(result.get("gradingResult"), "reason"),
        "metadata": without_none({"description": first_text(case, "description"), **object_in(case.get("metadata"))}),
        "usage": _usage(_tokens(result), result.get("cost")),
        "messages": [*_prompt(object_in(result["prompt"]).get("raw")), *_answer(response)],
    }
    failure = first_text(result, "error") or first_text(response, "error") or "error"
    return Chat(record, failure if broken else None, stated=stated)


def _prompt(raw: Any) -> list[Any]:
    """The messages of a prompt that is written as JSON, or its text as what the user asked."""
    given = decoded(raw)
    messages = list_in(at(given, "messages") or given)
    if messages and all(role_of(message) is not None for message in messages):
        return messages
    return [plain_message("user", as_text(raw))]


def _answer(response: JsonObject) -> Iterator[JsonObject]:
    done = [call for call in objects_in(at(response.get("metadata"), "toolCalls")) if first_text(call, "name")]
    for call in done:
        made = {"id": call.get("id"), "name": call["name"], "arguments": call.get("input")}
        yield {**plain_message("assistant", None), "tool_calls": [made]}
        if (shown := call.get("output")) is not None:
            failed = True if call.get("is_error") is True else None
            yield plain_message("tool", as_text(shown), tool_call_id=call.get("id"), is_error=failed)
    output = response.get("output")
    calls = [output] if _is_call(output) else list_in(output)
    if calls and all(map(_is_call, calls)):
        yield {**plain_message("assistant", None), "tool_calls": calls}
    elif isinstance(output, dict) and role_of(output) is not None and "content" in output:
        yield output
    elif isinstance(output, str) and output:
        yield from _text(output)
    elif output not in (None, ""):
        yield plain_message("assistant", as_text(output))


def _text(output: str) -> Iterator[JsonObject]:
    """A text, in which each call of Claude is a paragraph of JSON."""
    pieces = [(piece, object_in(as_object(piece))) for piece in output.split("\n\n")]
    calls = [block for _, block in pieces if block.get("type") == "tool_use"]
    text = "\n\n".join(piece for piece, block in pieces if block.get("type") != "tool_use")
    made = [{"id": call.get("id"), "name": call.get("name"), "arguments": call.get("input")} for call in calls]
    yield {**plain_message("assistant", text), **({"tool_calls": made} if made else {})}


def _is_call(value: Any) -> bool:
    return isinstance(at(at(value, "function"), "name"), str) or (
        "arguments" in object_in(value) and first_text(value, "name") is not None
    )


def _usage(usage: JsonObject, cost: Any) -> JsonObject | None:
    """The tokens of an answer; one from promptfoo's own cache cost none."""
    if not usage.get("prompt") and not usage.get("completion"):
        return {"cost": cost} if cost else None
    return without_none(
        {"prompt_tokens": usage.get("prompt"), "completion_tokens": usage.get("completion"), "cost": cost or None}
    )


PROMPTFOO = Envelope(
    name="promptfoo",
    description="results of promptfoo, with their prompts and outputs (--output FILE.json or .jsonl)",
    detection="results with promptIdx, testIdx, success and the raw prompt",
    holds=_holds,
    conversations=_conversations,
    local_ids=True,
)
