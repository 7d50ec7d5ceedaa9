"""The canonical trajectory: what every reader produces and all other layers use.

A trajectory is one task done by one or more agents. It is one linear `text` and, over it, a tree (turns, interactions,
steps) that says what each piece of the text is. The tree holds spans, not copies: the text is the only source, a
megabyte of tool output is stored once, and clips are cut from it so that nothing is ever in two clips or in none.
A value that the source did not have is `None`, never 0 and never a guess.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec
import orjson

from evaluation_assets.core.text.exact_json import loads
from evaluation_assets.core.text.well_formed import well_formed_json

JsonObject = dict[str, Any]


class NumberId(str):
    """An ID that its source records as a number: another one than the same digits as a text.

    Only readers see the type. What they give is numbered, and has plain texts as IDs.
    """

    __slots__ = ()


TWO_OUTCOMES = "two_outcomes"
"""Flag of a run whose source states both success and failure; its `success` is what counts."""

Span = tuple[int, int]
"""A piece of the trajectory's text: `text[start:end]`, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool an agent may call. `parameters` is a JSON Schema or a flat map of name to type."""

    name: str
    description: str = ""
    parameters: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One participant: who it is and which tools it was given (`None`: unknown, empty: none).

    With `has_other_tools`, `tools` are not all of them: its framework, provider or servers may have given it more.
    """

    id: str
    name: str | None = None
    role: str | None = None
    description: str | None = None
    model: str | None = None
    version: str | None = None
    tools: tuple[Tool, ...] | None = None
    has_other_tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and US dollars of one step, interaction or trajectory.

    `input_tokens` includes those read from a cache (`cached_tokens`) and written to it (`cache_write_tokens`); of the
    latter, `cache_write_1h_tokens` are kept for an hour. `is_list_price`: the source recorded no cost of some request,
    and `cost_usd` has that of its tokens at public list prices.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    is_list_price: bool = False

    @property
    def recorded_cost_usd(self) -> float | None:
        """The cost if the source recorded it."""
        return None if self.is_list_price else self.cost_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool block handed to the executor.

    `raw` is what the agent wrote as arguments. `arguments` is what it means, where that is more than what `raw` parses
    to; see `Trajectory.arguments`.
    """

    name: str
    raw: Span
    server: str | None = None
    id: str | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came back. `error` names the failure, in the tool's own words, when the call failed."""

    content: Span
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Reasoning, at most one tool call, and its result: `text[start:end]` of the trajectory.

    `message` is what the agent said in this step to a user or to another agent.
    """

    start: int
    end: int
    thought: Span | None = None
    call: ToolCall | None = None
    result: ToolResult | None = None
    message: Span | None = None
    latency_ms: float | None = None
    usage: Usage | None = None

    @property
    def has_failed(self) -> bool:
        """Whether its result is an error."""
        return self.result is not None and self.result.error is not None

    @property
    def has_succeeded(self) -> bool:
        """Whether it has a result that is no error."""
        return self.result is not None and self.result.error is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """The steps one agent took before it answered or handed over."""

    agent_id: str
    steps: tuple[Step, ...] = ()
    response: str | None = None
    latency_ms: float | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A user's message and what the agents did about it. `knowledge` is what the answer has to agree with."""

    interactions: tuple[Interaction, ...]
    user_message: str | None = None
    knowledge: str | None = None


RepairAction = Literal["closed", "extended", "matched", "kept_as_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """How one unbalanced tag is read. `offset` counts characters of the text as it came.

    `closed`: the block had no end; its closing tag belongs at `offset`. `extended`: the block ends at a later
    closing tag than its first. `matched`: the closing tag at `offset` is misspelt and closes what it should have
    named. `kept_as_text`: the tag at `offset` closes nothing and stays where it is, as text.
    """

    tag: str
    offset: int
    action: RepairAction


@dataclass(frozen=True, slots=True)
class Source:
    """Where a trajectory was read from. `line` is the number of its first record in the file, from 1.

    `is_whole` says whether that record is all of the run; spans and session lines are joined from several records.
    `[start, end)` are then the bytes of the record in the file. Both are `None` where they are not known without
    another look at the file: in arrays, archives, compressed files and Parquet. `within` is the path of the list that
    has the record, such as `data.simulations`; empty if the records are lines or the items of an array.
    """

    file: str
    line: int
    is_whole: bool = False
    start: int | None = None
    end: int | None = None
    within: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """What agents did on one task.

    `task_id` pairs runs of the same task across drops, `trial` tells repeated runs of it apart. `success` is the
    outcome the source recorded, whatever that meant there. `labels` are recorded outcomes and human labels, which no
    judge ever sees; `extra` keeps the source's own fields. `source` is where it was read from, and
    no part of its content: equal trajectories may have different ones.
    """

    id: str
    task_id: str
    format: str
    task: str
    text: str
    turns: tuple[Turn, ...]
    trial: int = 0
    agents: tuple[Agent, ...] = ()
    final_answer: str | None = None
    reference_answer: str | None = None
    success: bool | None = None
    started_at: str | None = None
    duration_s: float | None = None
    usage: Usage | None = None
    repairs: tuple[Repair, ...] = ()
    flags: tuple[str, ...] = ()
    labels: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)
    source: Source | None = field(default=None, compare=False)

    @property
    def steps(self) -> Iterator[Step]:
        """All steps in the order of the text."""
        for turn in self.turns:
            for interaction in turn.interactions:
                yield from interaction.steps

    @property
    def calls(self) -> list[Step]:
        """The steps that made a tool call."""
        return [step for step in self.steps if step.call is not None]

    @property
    def keeps_results(self) -> bool:
        """Whether its source keeps what tools gave back. One call without a result may be where the run broke off."""
        calls = self.calls
        return (len(calls) < 2 and self.is_asked) or any(step.result is not None for step in calls)

    @property
    def is_asked(self) -> bool:
        """Whether its source keeps what agents were asked or told, and not their answers alone."""
        told = (text for agent in self.agents for text in (agent.role, agent.description))
        return any((self.task, *(turn.user_message for turn in self.turns), *told))

    @property
    def texts(self) -> Iterator[str]:
        """Its own texts, and what agents were told before it, which runs of one agent share."""
        yield from self.own_texts
        for agent in self.agents:
            yield from filter(None, (agent.role, agent.description))

    @property
    def own_texts(self) -> Iterator[str]:
        """Its text, and the texts beside it: the task, answers and messages of users."""
        beside = [self.final_answer, self.reference_answer]
        for turn in self.turns:
            beside += [turn.user_message, turn.knowledge]
        yield from (self.task, self.text)
        yield from filter(None, beside)

    def piece(self, span: Span | None) -> str:
        """The text of a span; empty for none."""
        return "" if span is None else self.text[span[0] : span[1]]

    def arguments(self, call: ToolCall) -> JsonObject | None:
        """The arguments of a call as an object; `None` where the agent wrote no JSON object."""
        return arguments_in(self.piece(call.raw)) if call.arguments is None else call.arguments


def json_object(text: str) -> JsonObject | None:
    """The JSON object that a text is, else `None`."""
    data = json_document(text) if text.lstrip().startswith("{") else None
    return data if isinstance(data, dict) else None


def json_document(text: str) -> JsonObject | list[Any] | None:
    """The JSON object or list that a text is, else `None`."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return loads(text)
    except orjson.JSONDecodeError:
        return None


def arguments_in(text: str) -> JsonObject | None:
    """The arguments of a call, as an agent wrote them: a JSON object; none for an empty text and for `null`.

    Frameworks encode arguments that are JSON already a second time, as a JSON text that holds JSON.
    """
    for _ in range(_MOST_ENCODED):
        text = text.strip()
        if text in ("", "null"):
            return {}
        if not text.startswith('"'):
            break
        try:
            text = loads(text)
        except orjson.JSONDecodeError:
            return None
    return json_object(text)


_MOST_ENCODED = 4
"""How often arguments may be encoded as JSON."""

_JSON = json.JSONDecoder()
_MOST_BRACES = 100
"""Braces that are tried: each attempt may read all of a text that only looks like JSON."""


def json_objects(text: str, decoder: json.JSONDecoder = _JSON) -> Iterator[JsonObject]:
    """The JSON objects in a text that are not empty, one after the other, whatever the surrounding text."""
    start = text.find("{")
    for _ in range(_MOST_BRACES):
        if start < 0:
            return
        data, end = None, start + 1
        with suppress(ValueError, RecursionError):
            data, end = decoder.raw_decode(text, start)
            data = well_formed_json(data)
        if data:
            yield data
        start = text.find("{", end)


def first_json_object(text: str) -> JsonObject | None:
    """The first JSON object in a text that is not empty, whatever the surrounding text; else `None`."""
    return next(json_objects(text), None)


def _plain(value: object) -> str:
    """What the encoder writes for a value of a type that it does not know.

    Raises:
        NotImplementedError: the value is no ID.
    """
    if isinstance(value, NumberId):
        return str(value)
    raise NotImplementedError(f"objects of type {type(value).__name__} have no JSON")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_DECODER = msgspec.json.Decoder(Trajectory)


def to_json(trajectory: Trajectory) -> str:
    """The trajectory as JSON without its text, which tables hold in a column of its own."""
    return _ENCODER.encode(replace(trajectory, text="")).decode()


def from_json(document: str, text: str) -> Trajectory:
    """What `to_json` was given, from its JSON and its text.

    Raises:
        msgspec.ValidationError: the JSON is not a trajectory.
    """
    return replace(_DECODER.decode(document), text=text)
