"""The settings of a model at a provider in YAML files."""

import keyword
import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evaluation_assets.core.models.addresses import Address, without_password
from evaluation_assets.core.models.allowed_hosts import refusal_of
from evaluation_assets.core.models.dialects import Feature, MaxTokensField, Structured
from evaluation_assets.core.models.providers.base import Provider
from evaluation_assets.core.models.providers.capabilities import PROVIDERS, capabilities_of, google_address
from evaluation_assets.core.models.providers.connections import Endpoint, connect
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.models.timeouts import Timeouts
from evaluation_assets.core.system.configuration import Section, VariableName
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.core.traces.prices import OwnPrice, Price, Pricing, PublicPrice

_STRUCTURED: dict[str, Structured] = {"json_schema": "json_schema", "json_object": "json_object", "prompt": "prompted"}

RESERVED_NAMES = frozenset(
    "arg_dict bool conf config context dict float input input_arg_dict int meta output output_arg_dict str type".split()
) | frozenset(keyword.kwlist)
"""What Dagster takes for no name of an asset."""

_LONGEST_NAME = 100
_NO_PARAMETERS = frozenset("input messages model questions state stream system".split())
"""Fields of requests that say what is asked, and of which model: replies are stored as those to that question."""


def _asset_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            "a name consists of lower-case letters, digits and underscores, because it becomes the name of an asset"
        )
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"a name has at most {_LONGEST_NAME} characters, because it becomes the name of a file")
    if name in RESERVED_NAMES:
        raise ValueError(f"the name {name!r} is reserved by Dagster; choose another one")
    return name


AssetName = Annotated[str, AfterValidator(_asset_name)]


class EndpointSettings(Section):
    """A model with its provider, its limits and its price.

    Attributes:
        name: Name in tables, reports and assets: lower-case letters, digits and underscores.
        provider: The provider of the model, for instance `anthropic` or `openai_compatible`.
        model: Name of the model at the provider. `null`: the provider's default model, if it has one.
        api_key_env: Environment variable with the key. `null`: the provider's usual variable, if it needs a key.
        base_url: Address of the endpoint; required for the `*_compatible` providers. `null`: the provider's own.
        project: Google Cloud project of a model on Vertex. `null`: GOOGLE_CLOUD_PROJECT.
        location: Location of a model on Vertex. `null`: GOOGLE_CLOUD_LOCATION, else `global`.
        max_concurrency: Maximum requests in flight.
        requests_per_minute: Maximum requests per minute. `null`: what the endpoint accepts.
        tokens_per_minute: Maximum input and output tokens per minute. `null`: what the endpoint accepts.
        max_input_tokens: Maximum tokens of a request; longer texts are cut. `null`: 80% of the provider's context
            window, or what its lowest price tier allows if that is less, minus `max_output_tokens`.
        max_output_tokens: Maximum tokens of a reply.
        parameters: Further parameters of each request, passed to the endpoint as they are.
        structured: How JSON is asked for: `json_schema`, `json_object` (JSON mode), or `prompt` (in words only).
            `auto`: the provider's usual way, and a simpler one if the endpoint refuses it.
        max_tokens_field: The field of a request that limits the reply. `auto`: the provider's usual one, and the other
            one if the endpoint refuses it.
        timeouts: How long requests and pauses may take.
        price: Price of the model. `null`: the list price, else unknown.
    """

    unknown_field_hint: ClassVar[str] = "parameters of requests, such as temperature, go into `parameters`"

    needs_text: ClassVar[bool] = True

    name: AssetName
    provider: str
    model: str | None = Field(default=None, min_length=1)
    api_key_env: VariableName | None = None
    base_url: Address | None = None
    project: str | None = None
    location: str | None = None
    max_concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    max_input_tokens: int | None = Field(default=None, ge=1)
    max_output_tokens: int = Field(default=2000, ge=1)
    parameters: dict[str, Any] = Field(default={})
    structured: Literal["auto", "json_schema", "json_object", "prompt"] = "auto"
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    timeouts: Timeouts = Timeouts()
    price: Price | None = None

    @property
    def model_name(self) -> str:
        """The model, or the provider's default one."""
        return self.model or PROVIDERS[self.provider].default_model or ""

    @property
    def key_variable(self) -> str | None:
        """The variable that holds the key; `None` where none is needed."""
        known = PROVIDERS.get(self.provider)
        if known is None or self.api_key_env:
            return known and self.api_key_env
        other = known.other_key_env
        return other if other and not os.environ.get(known.key_env or "") and os.environ.get(other) else known.key_env

    @property
    def google_project(self) -> str:
        """The Google Cloud project that pays for a model on Vertex."""
        return self.project or os.environ.get("GOOGLE_CLOUD_PROJECT", "")

    @property
    def google_location(self) -> str:
        """Where a model on Vertex is served."""
        return self.location or os.environ.get("GOOGLE_CLOUD_LOCATION", "global")

    @property
    def address(self) -> str:
        """The URL of the endpoint, which on Vertex depends on the model."""
        known = capabilities_of(self.provider, self.model_name)
        if self.base_url is not None or known.credentials != "google":
            return self.base_url or known.base_url or ""
        return google_address(known.base_url or "", self.google_project, self.google_location)

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        self.check()
        return self

    def check_provider(self, *others: str) -> None:
        """Raise `ValueError` where the provider has no models and is none of the others."""
        known = (*others, *PROVIDERS)
        if self.provider not in known:
            meant = did_you_mean(self.provider, known, f"choose one of: {', '.join(known)}")
            raise ValueError(f"unknown provider {self.provider!r}; {meant}")

    def check(self) -> None:
        """Raise `ValueError` where the model cannot be reached as it is described."""
        self.check_provider()
        known = PROVIDERS[self.provider]
        if self.model is None and known.default_model is None:
            raise ValueError(f"provider {self.provider} needs a model")
        if self.base_url is None and known.base_url is None:
            raise ValueError(f"provider {self.provider} needs a base_url, e.g. http://localhost:8000/v1")
        if taken := sorted(_NO_PARAMETERS & {*self.parameters}):
            raise ValueError(f"parameters cannot replace the question or its model; remove {', '.join(taken)}")
        protocol = capabilities_of(self.provider, self.model_name)
        if protocol.decides and self.needs_text:
            raise ValueError(f"provider {self.provider} has decision models, which write no text; choose another one")
        if protocol.decides and self.structured != "auto":
            raise ValueError(f"provider {self.provider} has decision models, which write no JSON; remove structured")
        if self.structured != "auto" and _STRUCTURED[self.structured] not in protocol.ways:
            raise ValueError(
                f"provider {self.provider} has no structured: {self.structured}; choose auto, json_schema or prompt"
            )
        if self.max_tokens_field != "auto" and "max_tokens_field" in protocol.without_choice:
            raise ValueError(f"provider {self.provider} has one field alone; remove max_tokens_field")
        if known.credentials == "google" and not self.google_project:
            raise ValueError(f"provider {self.provider} needs a project, or GOOGLE_CLOUD_PROJECT")
        if refusal := refusal_of(self.address):
            raise ValueError(refusal)


def endpoint_of(own: EndpointSettings) -> tuple[ModelSettings, Callable[[], Provider], Pricing]:
    """How a model is asked, how its endpoint is connected to, and what its replies cost."""
    model = own.model_name
    known = capabilities_of(own.provider, model)
    dialect, fixed = known.dialect, set[Feature](known.without_choice)
    if own.structured != "auto":
        dialect = replace(dialect, structured=_STRUCTURED[own.structured])
        fixed.add("structured")
    if own.max_tokens_field != "auto":
        field: MaxTokensField = own.max_tokens_field
        dialect = replace(dialect, max_tokens_field=field)
        fixed.add("max_tokens_field")
    google = known.credentials == "google"
    shown = without_password(own.address)
    priced = model.rsplit("/", 1)[-1].split("@", 1)[0] if google else model
    pricing = OwnPrice(own.price) if own.price is not None else PublicPrice(known.price_id, priced)
    window = min(int(known.context_window * 0.8), pricing.cliff or known.context_window)
    settings = ModelSettings(
        name=own.name,
        provider=own.provider,
        model=model,
        endpoint=f"{shown} {own.google_project} {own.google_location}" if google else shown,
        max_concurrency=own.max_concurrency,
        requests_per_minute=own.requests_per_minute,
        tokens_per_minute=own.tokens_per_minute,
        max_output_tokens=own.max_output_tokens,
        max_input_tokens=own.max_input_tokens or window - own.max_output_tokens,
        parameters=own.parameters,
        key_variable=own.key_variable,
        timeouts=own.timeouts,
        usual=known.dialect,
        dialect=dialect,
        fixed=frozenset(fixed),
        ways=known.ways,
    )
    endpoint = Endpoint(
        abilities=known,
        model=model,
        base_url=own.address,
        key_variable=own.key_variable,
        project=own.google_project if google else "",
        location=own.google_location if google else "",
    )
    return settings, partial(connect, endpoint), pricing
