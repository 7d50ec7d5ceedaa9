"""Usage and cached prefixes."""

from typing import Any

import anthropic
import openai
import pytest

from evaluation_assets_tests.model_server import ModelServer, prompt_text, rule
from evaluation_assets_tests.model_server.calling import chat, messages, said_by_chat


def test_usage_is_counted(server: ModelServer) -> None:
    usage = chat(server).usage
    text, _ = said_by_chat(server)
    prompt = prompt_text(server.requests()[0].body)
    assert prompt.endswith("<|system|>You judge.<|user|>A clip.")
    assert usage.prompt_tokens == -(-len(prompt) // 4)
    assert usage.completion_tokens == -(-len(text) // 4)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    counted = messages(server).usage
    assert (counted.input_tokens, counted.output_tokens) == (usage.prompt_tokens, usage.completion_tokens)
    assert (counted.cache_read_input_tokens, counted.cache_creation_input_tokens) == (0, 0)


def test_chat_completions_cache_the_longest_common_prefix(server: ModelServer) -> None:
    def cached(text: str, **more: Any) -> int:
        return chat(server, text, **more).usage.prompt_tokens_details.cached_tokens

    long = "".join(f"{number} " for number in range(3000))
    assert cached(long) == 0
    whole = len(prompt_text(server.requests()[0].body)) // 512 * 128
    assert cached(long) == whole
    assert cached(long + "more") == whole
    half = cached(long[:6000] + "x" * 6000)
    assert 6000 // 4 <= half < whole
    assert half % 128 == 0
    assert cached("short") == cached("short") == 0
    assert cached(long, model="other") == 0
    assert cached(long, key="other") == 0
    assert cached(long, prompt_cache_key="a") == 0
    assert cached(long, prompt_cache_key="b") == 0
    assert cached(long, prompt_cache_key="a") == whole


def test_failed_calls_cache_nothing(server: ModelServer) -> None:
    server.script([rule("server_error", times=1)])
    with pytest.raises(openai.InternalServerError):
        chat(server, "x" * 9000)
    assert chat(server, "x" * 9000).usage.prompt_tokens_details.cached_tokens == 0
    assert chat(server, "x" * 9000).usage.prompt_tokens_details.cached_tokens > 0


def block(text: str, ttl: str | None = None) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"cache_control": {"type": "ephemeral", "ttl": ttl}} if ttl else {})


def test_messages_cache_up_to_markers(server: ModelServer) -> None:
    clips = [f"Clip {number}: " + "step. " * 1000 for number in range(4)]

    def turns(count: int, ttl: str = "5m") -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for number in range(count):
            made.append({"role": "user", "content": [block(clips[number], ttl if number >= count - 2 else None)]})
            made.append({"role": "assistant", "content": [block(f"verdict {number}")]})
        return made[:-1]

    def usage(count: int, **more: Any) -> tuple[int, int, int]:
        used = messages(server, messages=turns(count), system=[block("You judge. " * 500, "5m")], **more).usage
        assert used.cache_read_input_tokens is not None
        assert used.cache_creation_input_tokens is not None
        return used.cache_read_input_tokens, used.cache_creation_input_tokens, used.input_tokens

    before = usage(1)
    assert before[0] == before[2] == 0
    for count in range(2, 5):
        now = usage(count)
        assert now[0] == before[0] + before[1]
        assert now[1] > 1400
        assert now[2] == 0
        before = now
    assert usage(4) == (sum(before), 0, 0)
    assert usage(4, model="other")[0] == 0
    assert usage(4, key="other")[0] == 0


def test_messages_without_a_marker_or_too_short_are_not_cached(server: ModelServer) -> None:
    for _ in range(2):
        used = messages(server, "x" * 9000).usage
        assert (used.cache_read_input_tokens, used.cache_creation_input_tokens) == (0, 0)
        used = messages(server, system=[block("You judge.", "5m")]).usage
        assert (used.cache_read_input_tokens, used.cache_creation_input_tokens) == (0, 0)
    hour = messages(server, system=[block("y" * 9000, "1h")]).usage
    assert hour.cache_creation is not None
    assert hour.cache_creation.ephemeral_1h_input_tokens == hour.cache_creation_input_tokens
    assert messages(server, "x" * 9000, cache_control={"type": "ephemeral"}).usage.cache_creation_input_tokens
    assert messages(server, "x" * 9000, cache_control={"type": "ephemeral"}).usage.cache_read_input_tokens
    with pytest.raises(anthropic.BadRequestError, match="maximum of 4"):
        messages(server, system=[block("z", "5m")] * 5)
