"""Errors in the words of real servers: what they mean, and what of them is shown."""

import json
from typing import Any

import pytest

from evaluation_assets.core.models.providers.refusals import LONGEST_REASON
from evaluation_assets.core.models.providers.sdk_errors import answer_in, status_error
from evaluation_assets.core.text.masking import MASKED, Mask

KEY = "sk-proj-abcdefghijklmnop1234"


def error(status: int, body: Any) -> Any:
    return status_error(status, {}, body, Mask([KEY]))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "the request exceeds the available context size. try increasing the context size"),
        (400, "request (5120 tokens) exceeds the available context size (4096 tokens), try increasing it"),
        (500, "the request exceeds the available context size. try increasing the context size"),
        (400, "Requested tokens (6020) exceed context window of 512"),
        (400, "This model's maximum context length is 4096 tokens. However, you requested 6000 tokens."),
        (
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 1024 "
            "tokens and your request has 900 input tokens",
        ),
        (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
        (400, "Input is too long for requested model."),
        (400, "state too long: 32768 tokens at most"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "Trying to keep the first 5000 tokens, but the model is loaded with a context length of only 4096"),
        (400, "n_ctx is 2048, the prompt has 4000 tokens"),
        (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    ],
)
def test_a_prompt_that_does_not_fit_is_not_sent_again(status: int, said: str) -> None:
    problem = error(status, {"message": said})
    assert (problem.kind, problem.retryable, problem.refuses) == ("context_length", False, None)
    assert said[:100] in str(problem)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, "too many tokens: 40000 of 30000 a minute; context length does not matter"),
        (504, "the request took too long"),
        (401, "the key is too long"),
    ],
)
def test_other_errors_that_speak_of_length_are_none_of_the_window(status: int, said: str) -> None:
    assert error(status, {"message": said}).kind != "context_length"


@pytest.mark.parametrize(
    ("status", "body", "feature"),
    [
        (400, {"message": "'response_format.type' must be 'text' or 'json_object'"}, "structured"),
        (
            422,
            {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]},
            "structured",
        ),
        (500, {"error": {"message": "guided decoding is not available with this backend"}}, "structured"),
        (400, {"message": "Invalid value: json_schema", "param": "response_format.type"}, "structured"),
        (404, {"message": "No endpoints found that support structured outputs"}, "structured"),
        (400, "Failed to initialize samplers: failed to parse grammar", "structured"),
        (400, {"message": "Use 'max_completion_tokens' instead; 'max_tokens' is not supported"}, "max_tokens_field"),
        (422, {"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "extra fields"}]}, "max_tokens_field"),
        (400, "System role not supported", "system_role"),
        (400, {"message": "Developer instruction is not enabled for models/gemma-3-27b-it"}, "system_role"),
        (400, {"message": "Only user and assistant roles are supported!"}, "system_role"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/...", "system_role"),
        (400, {"message": "Unsupported value: 'temperature' does not support 0 with this model."}, "temperature"),
        (400, {"message": "`temperature` is deprecated for this model."}, "temperature"),
        (400, {"message": "invalid temperature: only 1 is allowed for this model"}, "temperature"),
        (400, {"message": "The request is not valid."}, "unclear"),
        (422, None, "unclear"),
        (500, "Internal Server Error", "unclear"),
        (400, {"message": "temperature must be between 0 and 2"}, "unclear"),
        (503, {"message": "Loading model"}, None),
        (429, {"message": "too many requests with response_format"}, None),
        (401, {"message": "json_schema is not for this key"}, None),
    ],
)
def test_a_refused_feature_is_recognised(status: int, body: Any, feature: str | None) -> None:
    assert error(status, body).refuses == feature


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"message": "model is loading"}, "model is loading"),
        ({"error": {"message": "no such adapter"}}, "no such adapter"),
        ({"object": "error", "message": "out of memory"}, "out of memory"),
        ({"detail": "Not Implemented"}, "Not Implemented"),
        ({"detail": [{"loc": ["body", "n"], "msg": "Field required"}]}, "body.n: Field required"),
        (
            {"message": "Provider returned error", "metadata": {"raw": "overloaded"}},
            "Provider returned error; overloaded",
        ),
        ("<html><title>Bad Gateway</title><body>nginx</body></html>", "Bad Gateway nginx"),
        ({"message": f"Incorrect API key provided: {KEY}."}, "Incorrect API key provided: [masked]."),
        ({"message": "key sk-proj-****************wxYz is wrong"}, "key [masked] is wrong"),
        ({"message": "\x1b[31mred\x1b[0m\n::error::forged\u202e"}, "red"),
        ({"message": "x" * 5000}, "x" * 100),
    ],
)
def test_the_servers_reason_is_shown_short_harmless_and_without_keys(body: Any, shown: str) -> None:
    said = str(error(400, body))
    assert shown in said
    assert KEY not in said and "wxYz" not in said
    assert said.isprintable()
    assert len(said) <= LONGEST_REASON + 80


@pytest.mark.parametrize("body", [None, "", {}, [], {"error": None}, {"error": {"message": None}}, {"metadata": 3}, 7])
def test_an_error_without_a_reason_is_its_status(body: Any) -> None:
    assert str(error(503, body)) == "HTTP 503"


def test_nesting_without_end_is_read_no_further() -> None:
    body: Any = "deep"
    for _ in range(100):
        body = {"error": [body]}
    assert "deep" not in str(error(503, body))


def test_an_answer_that_repeats_the_key_is_read_without_it() -> None:
    answer = {"model": "for Bearer opaque/secret", "choices": [{"message": {"content": "opaque/secret"}}]}
    for given in (answer, json.dumps(answer)):
        assert answer_in(given, Mask(["opaque/secret"])) == {
            "model": f"for Bearer {MASKED}",
            "choices": [{"message": {"content": MASKED}}],
        }
