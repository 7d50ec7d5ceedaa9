"""Capabilities of each provider's endpoint, as one table instead of special cases in the adapters."""

from dataclasses import dataclass
from typing import Literal, get_args

from evaluation_assets.core.models.dialects import Dialect, Feature, MaxTokensField, Structured

Protocol = Literal["openai", "anthropic", "openai_decisions", "systemone"]

_DECISIONS: tuple[Protocol, ...] = ("openai_decisions", "systemone")

_WAYS: dict[Protocol, tuple[Structured, ...]] = {
    "openai": ("json_schema", "json_object", "prompted"),
    "anthropic": ("json_schema", "prompted"),
    "openai_decisions": (),
    "systemone": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """An endpoint, and in `about` what answers there. `key_env` is where its key is looked for, then `other_key_env`;
    `price_id` is its name in the price data.

    `limits_each_model`: rate limits are the model's, as of hosted providers that document them so; else all models that
    are asked with one key share them.

    An endpoint with Google's credentials has an address with places for `{host}`, `{project}` and `{location}`.
    """

    about: str
    protocol: Protocol
    credentials: Literal["key", "google"] = "key"
    base_url: str | None
    key_env: str | None
    other_key_env: str | None = None
    structured: Structured = "json_schema"
    default_model: str | None = None
    max_tokens_field: MaxTokensField = "max_tokens"
    sends_cache_key: bool = False
    price_id: str | None = None
    context_window: int = 128_000
    limits_each_model: bool = False
    has_batches: bool = False

    @property
    def dialect(self) -> Dialect:
        """How the endpoint is usually asked."""
        return Dialect(structured=self.structured, max_tokens_field=self.max_tokens_field)

    @property
    def ways(self) -> tuple[Structured, ...]:
        """How the protocol can ask for JSON, from the strictest to the simplest."""
        return _WAYS[self.protocol]

    @property
    def without_choice(self) -> frozenset[Feature]:
        """Features that the protocol has in one form alone."""
        if self.decides:
            return frozenset(get_args(Feature))
        return frozenset({"max_tokens_field", "system_role"}) if self.protocol == "anthropic" else frozenset()

    @property
    def decides(self) -> bool:
        """Whether it is a decision model: it answers questions with probabilities and writes no text."""
        return self.protocol in _DECISIONS


PROVIDERS: dict[str, Capabilities] = {
    "openai": Capabilities(
        about="OpenAI",
        protocol="openai",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        structured="json_schema",
        default_model="gpt-6-luna",
        max_tokens_field="max_completion_tokens",
        sends_cache_key=True,
        price_id="openai",
        context_window=272_000,
        limits_each_model=True,
        has_batches=True,
    ),
    "anthropic": Capabilities(
        about="Anthropic",
        protocol="anthropic",
        base_url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
        structured="json_schema",
        default_model="claude-haiku-5-5",
        price_id="anthropic",
        context_window=200_000,
        limits_each_model=True,
        has_batches=True,
    ),
    "google": Capabilities(
        about="Google's Gemini",
        protocol="openai",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai/",
        key_env="GEMINI_API_KEY",
        other_key_env="GOOGLE_API_KEY",
        structured="json_schema",
        default_model="gemini-3.8-flash",
        price_id="google",
        context_window=1_000_000,
        limits_each_model=True,
    ),
    # DeepSeek's chat endpoint refuses json_schema and ignores max_completion_tokens without a word.
    "deepseek": Capabilities(
        about="DeepSeek",
        protocol="openai",
        base_url="https://api.deepseek.com",
        key_env="DEEPSEEK_API_KEY",
        structured="json_object",
        default_model="deepseek-flash",
        price_id="deepseek",
    ),
    "kimi": Capabilities(
        about="Moonshot's Kimi",
        protocol="openai",
        base_url="https://api.moonshot.ai/v1",
        key_env="MOONSHOT_API_KEY",
        structured="json_schema",
        default_model="kimi-k2.6",
        sends_cache_key=True,
        price_id="moonshotai",
        context_window=256_000,
    ),
    "vertex": Capabilities(
        about="models on Google Cloud, with its credentials",
        protocol="openai",
        credentials="google",
        base_url="https://{host}/v1/projects/{project}/locations/{location}/endpoints/openapi",
        key_env=None,
        structured="json_schema",
        default_model="google/gemini-3.8-flash",
        price_id="google",
        context_window=1_000_000,
        limits_each_model=True,
    ),
    "openai_compatible": Capabilities(
        about="vLLM, Ollama, OpenRouter, or any server with OpenAI's protocol",
        protocol="openai",
        base_url=None,
        key_env=None,
        structured="json_schema",
        context_window=32_000,
        has_batches=True,
    ),
    "anthropic_compatible": Capabilities(
        about="any server with Anthropic's protocol",
        protocol="anthropic",
        base_url=None,
        key_env=None,
        structured="prompted",
        context_window=128_000,
        has_batches=True,
    ),
    "openai_decisions": Capabilities(
        about="OpenAI's Decisions: probabilities, no reasons",
        protocol="openai_decisions",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        default_model="gpt-6-luna",
        sends_cache_key=True,
        price_id="openai-decisions",
        context_window=272_000,
        limits_each_model=True,
    ),
    # 32,000 tokens are for the state and the longest question; a whole request may have twice as many.
    "typesafe": Capabilities(
        about="TypeSafe's decision models: probabilities, no reasons",
        protocol="systemone",
        base_url="https://api.typesafe.ai/v1",
        key_env="TYPESAFE_API_KEY",
        default_model="jev-1.13.0",
        price_id="typesafe",
        context_window=32_000,
    ),
    "systemone": Capabilities(
        about="any server of decision models with the System One protocol",
        protocol="systemone",
        base_url=None,
        key_env=None,
        context_window=32_000,
    ),
}

# Structured output of Claude is off on Vertex unless an organisation's policy allows it.
_VERTEX_CLAUDE = Capabilities(
    about="Claude on Google Cloud, with its credentials",
    protocol="anthropic",
    credentials="google",
    base_url="https://{host}/v1",
    key_env=None,
    structured="prompted",
    price_id="google",
    context_window=200_000,
    limits_each_model=True,
)


def capabilities_of(provider: str, model: str) -> Capabilities:
    """What the endpoint of a model can do; on Vertex, Claude speaks its own protocol.

    Raises:
        KeyError: there is no such provider.
    """
    if provider == "vertex" and model.startswith("claude"):
        return _VERTEX_CLAUDE
    return PROVIDERS[provider]


def google_address(template: str, project: str, location: str) -> str:
    """The address of an endpoint on Google Cloud: the locations `global`, `us` and `eu` have hosts of their own."""
    if location == "global":
        host = "aiplatform.googleapis.com"
    elif location in ("us", "eu"):
        host = f"aiplatform.{location}.rep.googleapis.com"
    else:
        host = f"{location}-aiplatform.googleapis.com"
    return template.format(host=host, project=project, location=location)
