"""Who a span says it is of: the agent, its version, the session."""

import re
from typing import Any

from evaluation_assets.core.traces.formats.spans.langchain_dumps import agent_in
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.untyped import decoded, first_text
from evaluation_assets.core.traces.trajectories.model import JsonObject

NOBODY = "agent"
"""ID of an agent that no span names."""

AGENT_NAMES = (
    "gen_ai.agent.name", "agent_name", "agent.name", "traceloop.entity.name", "graph.node.id", "gen_ai.agent.id",
)  # fmt: skip
"""Attributes of an agent's own span that name it."""
_IN_ANY_SPAN = ("gen_ai.agent.name", "traceloop.association.properties.lc_agent_name", "ai.telemetry.functionId")
_AROUND_NAME = re.compile(r"^invoke_agent(?:\s+|$)|\.(?:run|invoke|kickoff)$")

VERSION = ("gen_ai.agent.version", "agent_version", "agent.version")
_METADATA = "metadata."
SESSION = (
    "session.id",
    "gen_ai.conversation.id",
    "langsmith.trace.session_id",
    "traceloop.association.properties.session_id",
)
"""Attributes that name the session of a trace."""


def agent_of(span: Span) -> str | None:
    """The name of the agent whose own span this is, as its attributes or else its title state it; else its ID."""
    named = (*(span.attributes.get(key) for key in AGENT_NAMES[:-1]), span.name, span.attributes.get(AGENT_NAMES[-1]))
    return next(filter(None, (plain_name(one) for one in named if isinstance(one, str) and one.strip())), None)


def plain_name(title: str) -> str:
    """The name of an agent in the title of its span."""
    return _AROUND_NAME.sub("", title)


def agent_named_in(span: Span) -> str | None:
    """The agent that a span says it belongs to, in any attribute for it."""
    return first_text(span.attributes, *_IN_ANY_SPAN) or agent_in(metadata_of(span.attributes))


def version_in(span: Span) -> str | None:
    """The version of the agent that a span states."""
    return first_text(span.attributes, *VERSION) or first_text(decoded(metadata_of(span.attributes)), "agent_version")


def metadata_of(attributes: JsonObject) -> Any:
    """The metadata of a span, which Phoenix stores as an attribute for each of its fields."""
    whole = attributes.get("metadata")
    if whole is not None:
        return whole
    return {key.removeprefix(_METADATA): value for key, value in attributes.items() if key.startswith(_METADATA)}
