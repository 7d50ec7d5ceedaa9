"""Settings of the embeddings that compare messages of a session, in `panel.yaml`. Importing it is cheap."""

from importlib.util import find_spec
from typing import Literal, Self

from pydantic import Field, model_validator

from evaluation_assets.core.models.addresses import Address
from evaluation_assets.core.models.allowed_hosts import refusal_of
from evaluation_assets.core.models.redaction.settings import OwnRedaction
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.configuration import Section, VariableName
from evaluation_assets.core.traces.prices import Price

_OPENAI = "https://api.openai.com/v1"


class EmbeddingSettings(Section):
    """The embedding model and its thresholds, which are cosines and depend on the model.

    The defaults were chosen with all-MiniLM-L6-v2 on dialogues of EURTAD.

    Attributes:
        provider: `openai` is any endpoint with OpenAI's protocol; `local` is a model run by the extra `embeddings`.
        model: Name of the model; with `local`, its folder or its name on the Hugging Face hub.
        base_url: Address of the endpoint.
        api_key_env: Environment variable with the key. `null`: OPENAI_API_KEY for OpenAI; no key for another
            `base_url`.
        price: Price of the model. `null`: the list price of the provider with this address, else unknown.
        re_ask: A message re-asks the previous one only if their cosine is at least this.
        may_re_ask: A judge's finding of re-asking is discarded if the cosine is below this.
        dissatisfied: How much a message must be closer to an example of dissatisfaction than to every example of
            content.
        redaction: What is replaced in texts before they are sent to the endpoint. `null`: what the panel says; `false`:
            nothing.
    """

    provider: Literal["openai", "local"] = "openai"
    model: str
    base_url: Address = _OPENAI
    api_key_env: VariableName | None = None
    price: Price | None = None
    re_ask: float = Field(default=0.96, gt=0, le=1)
    may_re_ask: float = Field(default=0.38, gt=0, le=1)
    dissatisfied: float = Field(default=0.14, gt=0, le=1)
    redaction: OwnRedaction = None

    @property
    def key_variable(self) -> str | None:
        """The environment variable with the key; `None` if no key is sent."""
        return self.api_key_env or ("OPENAI_API_KEY" if self.base_url == _OPENAI else None)

    @property
    def name(self) -> str:
        """Name of the measure in analyses."""
        return f"{'local ' if self.provider == 'local' else ''}embeddings of {self.model}"

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        if self.provider == "local" and find_spec("model2vec") is None:
            raise ValueError(f"local embeddings need an extra package: {installing('embeddings')}")
        if self.provider == "openai" and (refusal := refusal_of(self.base_url)):
            raise ValueError(refusal)
        return self
