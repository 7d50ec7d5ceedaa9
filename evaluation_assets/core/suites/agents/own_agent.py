"""Agents of the user's own: a Python function or a command, which is given a task and returns an answer.

The task is an object with `task`, `messages`, `case` (the ID) and `trial`. The answer is a text, or an object with
`answer`, `messages` (what the agent did, with tool calls, in a protocol of OpenAI or Anthropic) and `usage`.
"""

import asyncio
import os
import time
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation_assets.core.models.json_text import dumped, loads
from evaluation_assets.core.suites.agents.command_process import TooMuchOutput, run_command
from evaluation_assets.core.suites.agents.conversation import Attempt, Ended
from evaluation_assets.core.suites.agents.settings import COMMAND, AgentSettings
from evaluation_assets.core.system.daemon_threads import called
from evaluation_assets.core.text.excerpts import beginning
from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.text.masking import environment_mask
from evaluation_assets.core.text.well_formed import well_formed_json
from evaluation_assets.core.traces.formats.files.json_values import loaded
from evaluation_assets.core.traces.formats.messages.chat import events_of, part_kinds, role_of
from evaluation_assets.core.traces.formats.readers import anthropic_messages, openai_responses
from evaluation_assets.core.traces.formats.transcript import Asked, Event, Said
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.usage import TOO_MANY, usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

MOST_OUTPUT = 16 * 1024 * 1024
"""Bytes that a command may write to its standard output, and that a function may return, as JSON."""

_LONGEST_ERROR = 2000
_SHOWN = 200
"""Characters of an output that is not JSON, of which the reason shows the beginning."""
_BLOCKS = frozenset(("tool_use", "tool_result"))
"""Parts of messages of Anthropic that are calls and results."""
_REMEDY = "Return a text, or an object with answer, messages and usage."
_INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ")
"""Variables that every command is given; all others are named by `env` and `env_from`."""


class AgentFailed(Exception):
    """The agent gave no usable answer; `ended` says how the attempt ended."""

    def __init__(self, message: str, ended: Ended = "failed") -> None:
        super().__init__(message)
        self.ended: Ended = ended


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    answer: str | None = None
    messages: list[dict[str, Any]] = []
    usage: Any = None


async def attempt_by(agent: AgentSettings, attempt: Attempt) -> None:
    """Have the agent work on a case; `attempt` is updated in place, also where the agent fails."""
    started = time.monotonic()
    work = _by_command if agent.provider == COMMAND else _by_function
    try:
        returned = await asyncio.wait_for(work(agent, _task(attempt)), agent.limits.max_seconds)
        attempt.ended = _take(agent, attempt, returned)
    except TimeoutError:
        attempt.ended, attempt.error = "time_limit", f"no answer in {agent.limits.max_seconds:g} s"
    except AgentFailed as problem:
        attempt.ended, attempt.error = problem.ended, environment_mask(agent.passed)(str(problem))[:_LONGEST_ERROR]
    finally:
        attempt.seconds = time.monotonic() - started


def _task(attempt: Attempt) -> JsonObject:
    messages = [{"role": turn.role, "content": turn.text} for turn in attempt.turns]
    if attempt.system:
        messages.insert(0, {"role": "system", "content": attempt.system})
    return {"task": attempt.case.prompt, "messages": messages, "case": attempt.case.id, "trial": attempt.trial}


def _take(agent: AgentSettings, attempt: Attempt, returned: object) -> Ended:
    """Record what the agent returned."""
    try:
        told = _Answer.model_validate({"answer": returned} if isinstance(returned, str) else returned)
    except ValidationError as problem:
        fault = faults_of(problem, is_yaml=False)[0]
        raise AgentFailed(f"the agent returned {type(returned).__name__}: {fault}. {_REMEDY}") from None
    events = _events(told.messages, agent.name)
    if any(isinstance(event, Asked) for event in events):
        attempt.events = events  # the whole conversation, with the task
    else:
        attempt.events += events
    said = [event for event in events if isinstance(event, Said)]
    last = said[-1].message if said else None
    if told.answer is not None and told.answer != last:
        attempt.events.append(Said(agent_id=agent.name, message=told.answer))
    attempt.last_text = told.answer if told.answer is not None else last
    attempt.steps, attempt.calls = max(1, len(said)), sum(len(event.calls) for event in said)
    attempt.said = [event.message for event in said if event.message]
    if isinstance(told.usage, dict):
        attempt.usages = [_used(told.usage)]
    else:
        attempt.usages = [event.usage for event in said if event.usage is not None]
    if not (attempt.last_text or "").strip():
        raise AgentFailed("the agent returned no answer")
    return "answered"


def _used(given: JsonObject) -> Usage:
    """The usage that an agent states by the names of any provider. What says nothing of tokens and cost is left out.

    It is unknown where a figure is none: negative, or more than any attempt takes.
    """
    used = usage_of(Fields(given)) or Usage()
    is_negative = any(isinstance(value, int | float) and value < 0 for value in given.values())
    return Usage() if is_negative or (used.cost_usd or 0) >= TOO_MANY else used


def _events(messages: list[JsonObject], agent: str) -> list[Event]:
    """What messages say: chat messages of OpenAI or Anthropic, or items of the Responses API."""
    for index, message in enumerate(messages):
        if role_of(message) is None or message.get("type") in _BLOCKS:
            raise AgentFailed(f"messages[{index}] has no role. {_REMEDY}")
    if len(protocols := set(filter(None, map(_protocol, messages)))) > 1:
        raise AgentFailed(f"messages are of several protocols: {', '.join(sorted(protocols))}. {_REMEDY}")
    with UnmappedFields().reading({"messages": messages}) as fields:
        given = fields.objects("messages")
        if any(map(openai_responses.is_item, messages)):
            events = list(openai_responses.events_of(given, None))
        elif anthropic_messages.is_anthropic({"messages": messages}):
            events = list(anthropic_messages.events_of(given, {}))
        else:
            return list(events_of(given, agent))
    return [replace(event, agent_id=agent) if isinstance(event, Said) else event for event in events]


def _protocol(message: JsonObject) -> str | None:
    """Whose protocol a call or result is of; `None` for what is the same in all."""
    if openai_responses.is_item(message) and message.get("type") not in ("message", "reasoning"):
        return "Responses"
    if message.get("tool_calls") or message.get("role") == "tool":
        return "OpenAI's chat"
    return "Anthropic" if _BLOCKS & part_kinds([message]) else None


async def _by_function(agent: AgentSettings, task: JsonObject) -> object:
    function = agent.own_function().function
    try:
        returned = await called(function, task)
    except Exception as problem:
        raise AgentFailed(f"{type(problem).__name__}: {problem}") from problem
    try:
        output = dumped(well_formed_json(returned))
    except (TypeError, ValueError, RecursionError):
        raise AgentFailed(f"the agent returned {type(returned).__name__}, which is not JSON. {_REMEDY}") from None
    if len(output) > MOST_OUTPUT:
        raise AgentFailed(f"the agent returned more than {MOST_OUTPUT:,} bytes")
    return loads(output)


async def _by_command(agent: AgentSettings, task: JsonObject) -> object:
    names = (*_INHERITED, *agent.env_from)
    environment = {name: os.environ[name] for name in names if name in os.environ} | agent.env
    try:
        finished = await run_command(agent.command, dumped(task), agent.folder, environment, MOST_OUTPUT)
    except OSError as problem:
        raise AgentFailed(f"{agent.command[0]} cannot be started: {problem.strerror}") from None
    except TooMuchOutput:
        raise AgentFailed(f"the command wrote more than {MOST_OUTPUT:,} bytes to its standard output") from None
    if finished.status:
        errors = finished.errors.strip() or "no message"
        raise AgentFailed(f"the command ended with exit status {finished.status}: {errors}")
    try:
        return loaded(finished.output)
    except ValueError as problem:
        wrote = beginning(finished.output.decode("utf-8", "replace").strip(), _SHOWN) or "nothing"
        raise AgentFailed(f"the command wrote no JSON to its standard output: {problem}. It wrote: {wrote}") from None
