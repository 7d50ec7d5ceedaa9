"""Dialects: which features of its protocol an endpoint is asked with, because it takes no others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evaluation_assets.core.models.messages import Request

Structured = Literal["json_schema", "json_object", "prompted"]
MaxTokensField = Literal["max_tokens", "max_completion_tokens"]
Feature = Literal["structured", "max_tokens_field", "system_role", "temperature"]
"""What an endpoint may refuse although other endpoints take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How an endpoint is asked.

    Attributes:
        structured: How JSON is asked for: by a schema, in JSON mode, or in words. The last two have the schema in the
            system prompt.
        max_tokens_field: The field that limits the reply.
        system_role: Whether system text is a message of its own, or stands in front of the first user message.
        temperature: Whether a temperature among the parameters is sent.
    """

    structured: Structured = "json_schema"
    max_tokens_field: MaxTokensField = "max_tokens"
    system_role: bool = True
    temperature: bool = True

    def differences(self, usual: "Dialect") -> dict[str, Any]:
        """What is asked in another way than usual. A parameter that is left out shows in the parameters."""
        names = ("structured", "max_tokens_field", "system_role")
        return {name: own for name in names if (own := getattr(self, name)) != getattr(usual, name)}

    def parameters(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that are sent."""
        return {name: value for name, value in given.items() if self.temperature or name != "temperature"}


def features_of(request: Request) -> frozenset[Feature]:
    """The features that a request makes use of."""
    used: set[Feature] = {"max_tokens_field"}
    if request.schema is not None:
        used.add("structured")
    if request.system:
        used.add("system_role")
    if "temperature" in request.parameters:
        used.add("temperature")
    return frozenset(used)
