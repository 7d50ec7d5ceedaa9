"""`panel.yaml`: the judges in use, and how each is made."""

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from upath import UPath

from evaluation_assets.core.judging.asking import ModelSettings
from evaluation_assets.core.judging.embeddings import EmbeddingSettings
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.ledger import Ledger
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.prices import OwnPrice, Price, Pricing, PublicPrice
from evaluation_assets.core.judging.providers.base import Provider
from evaluation_assets.core.judging.providers.capabilities import PROVIDERS, capabilities_of, google_address
from evaluation_assets.core.judging.providers.connections import Endpoint, connect
from evaluation_assets.core.judging.recorded import RecordedJudge
from evaluation_assets.core.judging.rules.judge import RulesJudge

EMBEDDED = "rules"
"""The provider of the judge that needs no model."""

RECORDED = "recorded"
"""The provider of judges whose verdicts came with the trajectories; `model` is the judge's name there."""


class InvalidPanel(ValueError):
    """A panel file that cannot be used; the message names file, field and what to write instead."""


class JudgeSettings(BaseModel):
    """One judge of the panel. Its key is read from the environment and stands in no file.

    `project` and `location` are of models on Vertex; by default GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION.
    With `repeats` a model gives several verdicts on every subject, each in a conversation of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    provider: str
    model: str | None = None
    api_key_env: str | None = None
    base_url: str | None = None
    project: str | None = None
    location: str | None = None
    max_concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    max_input_tokens: int | None = Field(default=None, ge=1)
    max_output_tokens: int = Field(default=2000, ge=1)
    parameters: dict[str, Any] = {}
    repeats: int = Field(default=1, ge=1)
    price: Price | None = None

    @property
    def model_name(self) -> str:
        """The model, or the provider's default one."""
        if self.provider == EMBEDDED:
            return "embedded"
        if self.provider == RECORDED:
            return self.model or "recorded"
        return self.model or PROVIDERS[self.provider].default_model or ""

    @property
    def key_variable(self) -> str | None:
        """The variable that holds the key; `None` where none is needed."""
        known = PROVIDERS.get(self.provider)
        return None if known is None else self.api_key_env or known.key_env

    @property
    def google_project(self) -> str:
        """The Google Cloud project that pays for a model on Vertex."""
        return self.project or os.environ.get("GOOGLE_CLOUD_PROJECT", "")

    @property
    def google_location(self) -> str:
        """Where a model on Vertex is served."""
        return self.location or os.environ.get("GOOGLE_CLOUD_LOCATION", "global")

    @field_validator("name")
    @classmethod
    def _is_a_plain_name(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError("a judge's name is lower-case letters, digits and underscores: it becomes an asset's name")
        return name

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.provider in (EMBEDDED, RECORDED):
            if self.repeats > 1:
                raise ValueError(f"a judge of provider {self.provider} says the same every time: leave repeats out")
            return self
        if self.provider not in PROVIDERS:
            raise ValueError(f"provider {self.provider!r}; there are: {', '.join((EMBEDDED, RECORDED, *PROVIDERS))}")
        known = PROVIDERS[self.provider]
        if self.model is None and known.default_model is None:
            raise ValueError(f"a judge of provider {self.provider} needs a model")
        if self.base_url is None and known.base_url is None:
            raise ValueError(f"a judge of provider {self.provider} needs a base_url, e.g. http://localhost:8000/v1")
        if known.credentials == "google" and not self.google_project:
            raise ValueError(f"a judge of provider {self.provider} needs a project, or GOOGLE_CLOUD_PROJECT")
        return self


class Panel(BaseModel):
    """The judges, and how many of them must have scored a subject for an average to exist.

    With `embeddings` the messages of a session are compared by their meaning, else by their letters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    quorum: int = Field(default=1, ge=1)
    judges: tuple[JudgeSettings, ...] = (JudgeSettings(name=EMBEDDED, provider=EMBEDDED),)
    embeddings: EmbeddingSettings | None = None

    def with_limits(self, limits: dict[str, Any]) -> Self:
        """The panel with another `max_concurrency`, `requests_per_minute` or `tokens_per_minute` for all its judges."""
        return self.model_copy(update={"judges": tuple(judge.model_copy(update=limits) for judge in self.judges)})

    @field_validator("judges")
    @classmethod
    def _names_differ(cls, judges: tuple[JudgeSettings, ...]) -> tuple[JudgeSettings, ...]:
        names = [judge.name for judge in judges]
        if not names or len(set(names)) < len(names):
            raise ValueError("a panel has at least one judge, and every judge a name of its own")
        return judges


def load_panel(path: UPath | None) -> Panel:
    """The panel in a file; the embedded judge alone when there is no file.

    Raises:
        InvalidPanel: the file is no YAML, or a field is wrong.
    """
    if path is None or not path.exists():
        return Panel()
    try:
        return panel_of(yaml.safe_load(path.read_text("utf-8")) or {}, str(path))
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise InvalidPanel(f"{path}: {problem}") from problem


def panel_of(data: Any, source: str) -> Panel:
    """The panel that parsed YAML describes.

    Raises:
        InvalidPanel: a field is wrong; the message begins with `source`.
    """
    try:
        return Panel.model_validate(data)
    except ValidationError as problem:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors(include_input=False))
        raise InvalidPanel(f"{source}: {faults}") from None


def judges_of(panel: Panel, ledger_url: str) -> list[Judge]:
    """The panel's judges. None of them needs a key or a connection before it is opened."""
    return [_judge(settings, ledger_url) for settings in panel.judges]


def _judge(own: JudgeSettings, ledger_url: str) -> Judge:
    if own.provider == EMBEDDED:
        return RulesJudge(own.name)
    if own.provider == RECORDED:
        return RecordedJudge(own.name, own.model_name)
    settings, connected, pricing = endpoint_of(own)
    return ModelJudge(settings, connected, partial(Ledger, ledger_url), pricing, own.repeats)


def endpoint_of(own: JudgeSettings) -> tuple[ModelSettings, Callable[[], Provider], Pricing]:
    """How a model is asked, how its endpoint is connected to, and what its replies cost."""
    model = own.model_name
    known = capabilities_of(own.provider, model)
    google = known.credentials == "google"
    address = own.base_url or known.base_url or ""
    if google and own.base_url is None:
        address = google_address(address, own.google_project, own.google_location)
    priced = model.rsplit("/", 1)[-1].split("@", 1)[0] if google else model
    pricing = OwnPrice(own.price) if own.price is not None else PublicPrice(known.price_id, priced)
    window = min(int(known.context_window * 0.8), pricing.cliff or known.context_window)
    settings = ModelSettings(
        name=own.name,
        provider=own.provider,
        model=model,
        endpoint=f"{address} {own.google_project} {own.google_location}" if google else address,
        max_concurrency=own.max_concurrency,
        requests_per_minute=own.requests_per_minute,
        tokens_per_minute=own.tokens_per_minute,
        max_output_tokens=own.max_output_tokens,
        max_input_tokens=own.max_input_tokens or window - own.max_output_tokens,
        parameters=own.parameters,
    )
    endpoint = Endpoint(
        abilities=known,
        model=model,
        base_url=address,
        key_variable=own.key_variable,
        project=own.google_project if google else "",
        location=own.google_location if google else "",
    )
    return settings, partial(connect, endpoint), pricing
