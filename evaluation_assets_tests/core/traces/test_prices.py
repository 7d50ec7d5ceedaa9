"""What replies cost: what is kept in the provider's cache for an hour costs more than for five minutes."""

import asyncio

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import ValidationError

from evaluation_assets.core.models.messages import Message, Request
from evaluation_assets.core.models.providers.anthropic_messages import AnthropicMessages
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.models.providers.openai_chat import OpenAIChat
from evaluation_assets.core.suites.agents.settings import Limits
from evaluation_assets.core.system.automation import NightlyRunSettings
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.prices import OwnPrice, Price, PublicPrice, list_price_of
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets.defs.agents import AgentRunConfig
from evaluation_assets.defs.drop_config import DropConfig
from evaluation_assets_tests.core.judging.test_hostile_replies import completion
from evaluation_assets_tests.http_server import Reply, http_server
from evaluation_assets_tests.model_server import ModelServer

SONNET = PublicPrice("anthropic", "claude-sonnet-4-5")
WRITTEN = TokenUsage(input_tokens=1000, cache_write_tokens=1000, cache_write_1h_tokens=400, output_tokens=0)


def asked(server: ModelServer, ttl: str) -> TokenUsage:
    """The usage of a reply to a prompt that the provider is to cache for this time."""
    request = Request(
        system="",
        turns=(Message("user", f"A clip, kept {ttl}. " * 2000),),
        schema=None,
        max_output_tokens=100,
        cache_key="chain",
        parameters={"cache_control": {"type": "ephemeral", "ttl": ttl}},
    )

    async def reply() -> TokenUsage:
        async with AsyncAnthropic(api_key="any", base_url=server.anthropic_url, max_retries=0) as client:
            endpoint = AnthropicMessages(client, "claude-sonnet-4-5", PROVIDERS["anthropic"])
            return (await endpoint.complete(request, PROVIDERS["anthropic"].dialect)).usage

    return asyncio.run(reply())


@pytest.mark.parametrize(("ttl", "share"), [("1h", 1), ("5m", 0)])
def test_a_reply_states_what_is_cached_for_an_hour(server: ModelServer, ttl: str, share: int) -> None:
    used = asked(server, ttl)
    assert used.cache_write_tokens
    assert used.cache_write_1h_tokens == share * used.cache_write_tokens


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("gpt-4o", 12.5),
        ("openai/gpt-4o", 12.5),
        ("openai:gpt-4o-2024-08-06", 12.5),
        ("azure/gpt-4o", 12.5),
        ("anthropic/claude-sonnet-4-5", 18),
        ("openrouter/anthropic/claude-sonnet-4.5", 18),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 18),
        ("bedrock/anthropic.claude-sonnet-4-20250514-v1:0", 18),
        ("vertex_ai/gemini-2.5-flash", 2.8),
        ("models/gemini-2.5-flash", 2.8),
        ("azure/our-deployment", None),
        ("ft:gpt-4o:us:mine", None),
        ("litellm_proxy/gpt-4o", None),
        ("openai/unheard-of", None),
        ("", None),
    ],
)
def test_a_list_price_is_that_of_the_provider_that_the_name_tells(model: str, usd: float | None) -> None:
    """Dollars of a million tokens each way."""
    cost = list_price_of(model).cost(TokenUsage(input_tokens=1000, output_tokens=1000))
    assert cost == (None if usd is None else pytest.approx(usd / 1000))


def test_list_prices_tell_the_two_apart() -> None:
    assert SONNET.cost(WRITTEN) == pytest.approx((600 * 3.75 + 400 * 6) / 1e6)


@pytest.mark.parametrize(("for_an_hour", "usd"), [(2.0, 600 * 1.25 + 400 * 2.0), (None, 1000 * 1.25)])
def test_own_prices_may_tell_them_apart(for_an_hour: float | None, usd: float) -> None:
    price = Price(input=1, output=5, cache_write=1.25, cache_write_1h=for_an_hour)
    assert OwnPrice(price).cost(WRITTEN) == pytest.approx(usd / 1e6)


def test_counts_that_contradict_each_other_have_no_price() -> None:
    assert SONNET.cost(TokenUsage(input_tokens=10, cached_tokens=20, output_tokens=1)) is None


LITELLM = {
    "cached_tokens": 200,
    "cache_creation_tokens": 700,
    "cache_creation_token_details": {"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 200},
}
"""How the proxy tells in the OpenAI protocol what Claude wrote to its cache."""


def test_a_judge_behind_a_proxy_pays_for_what_is_cached_for_an_hour() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 60, "prompt_tokens_details": LITELLM}

    async def answered(url: str) -> TokenUsage:
        client = AsyncOpenAI(api_key="any", base_url=f"{url}/v1")
        request = Request(system="s", turns=(Message("user", "u"),), schema=None, max_output_tokens=100, cache_key="k")
        known = PROVIDERS["openai_compatible"]
        return (await OpenAIChat(client, "m", known).complete(request, known.dialect)).usage

    with http_server(lambda _: Reply(text=completion("x", usage).decode())) as url:
        used = asyncio.run(answered(url))
    assert (used.cached_tokens, used.cache_write_tokens, used.cache_write_1h_tokens) == (200, 700, 200)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_prices_and_budgets_are_finite(value: str) -> None:
    """Every cost is below `nan`, and above it: it would limit nothing."""
    number = float(value)
    for made in (
        lambda: Price(input=number, output=1.0),
        lambda: Price(input=1.0, output=1.0, cache_write_1h=number),
        lambda: NightlyRunSettings(budget_usd=number),
        lambda: DropConfig(budget_usd=number),
        lambda: AgentRunConfig(budget_usd=number),
        lambda: Limits(max_cost_usd=number),
    ):
        with pytest.raises(ValidationError, match="finite"):
            made()


@pytest.mark.parametrize(
    "usage",
    [
        {  # Anthropic
            "input_tokens": 100,
            "cache_read_input_tokens": 200,
            "cache_creation_input_tokens": 700,
            "cache_creation": {"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 200},
            "output_tokens": 5,
        },
        {  # LangChain
            "input_tokens": 1000,
            "output_tokens": 5,
            "input_token_details": {
                "cache_read": 200,
                "cache_creation": 0,
                "ephemeral_5m_input_tokens": 500,
                "ephemeral_1h_input_tokens": 200,
            },
        },
        {  # Bedrock
            "inputTokens": 100,
            "cacheReadInputTokens": 200,
            "cacheWriteInputTokens": 700,
            "cacheDetails": [{"ttl": "5m", "inputTokens": 500}, {"ttl": "1h", "inputTokens": 200}],
            "outputTokens": 5,
            "totalTokens": 105,
        },
        {  # LiteLLM
            "prompt_tokens": 1000,
            "completion_tokens": 5,
            "prompt_tokens_details": LITELLM,
        },
    ],
    ids=["anthropic", "langchain", "bedrock", "litellm"],
)
def test_what_a_trajectory_wrote_to_the_cache_is_read(usage: dict[str, object]) -> None:
    assert usage_of(Fields(usage, "usage.")) == Usage(
        input_tokens=1000,
        cached_tokens=200,
        cache_write_tokens=700,
        cache_write_1h_tokens=200,
        output_tokens=5,
    )
