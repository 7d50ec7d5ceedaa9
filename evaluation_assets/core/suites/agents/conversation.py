"""One attempt at a case: call the model and its tools until it answers or reaches a limit."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.models.messages import (
    Message,
    Reply,
    Request,
    ToolAnswer,
    ToolUse,
)
from evaluation_assets.core.suites.agents.settings import AgentSettings, Limits
from evaluation_assets.core.suites.agents.simulated_user import Ask, UserFailed, UserModel, message_of, next_request
from evaluation_assets.core.suites.agents.tools import CallOutcome, Toolbox
from evaluation_assets.core.suites.suite import Case
from evaluation_assets.core.traces.formats.readers.canonical import NAME
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, total, written
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory, Usage

Ended = Literal[
    "answered",
    "step_limit",
    "call_limit",
    "cost_limit",
    "time_limit",
    "user_limit",
    "context_limit",
    "truncated",
    "refused",
    "failed",
]
"""Why an attempt ended.

`user_limit`: the simulated user had written its `max_messages`. `context_limit`: the conversation exceeded the model's
context window. `truncated`: a reply was cut at the token limit.
`failed`: an infrastructure failure; the endpoint gave no reply, or a tool server did not start or died.
"""


@dataclass(slots=True)
class Attempt:
    """The state of an attempt. `seconds` is the time that model and tools took, without waiting for a free slot.

    `most_usd` is what its replies cost, those of unknown tokens the most that they can.
    """

    case: Case
    trial: int
    system: str = ""
    events: list[Event] = field(default_factory=list)
    turns: list[Message] = field(default_factory=list)
    steps: int = 0
    calls: int = 0
    seconds: float = 0.0
    most_usd: float = 0.0
    usages: list[Usage] = field(default_factory=list)
    durations: dict[str, list[float]] = field(default_factory=dict)
    ended: Ended = "failed"
    error: str | None = None
    last_text: str | None = None
    said: list[str] = field(default_factory=list)
    user_replies: list[Entry] = field(default_factory=list)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def usage(self) -> Usage:
        """Total tokens and cost of all replies."""
        return total(self.usages) or Usage()


class Conversation:
    """An agent working on one case.

    `known_results` are tool results by step from an interrupted attempt; these calls are not repeated. `keep` receives
    the results of every other step before the model sees them. `user` plays the user of a case that has one.
    """

    def __init__(
        self,
        agent: AgentSettings,
        toolbox: Toolbox,
        ask: Ask,
        *,
        known_results: Mapping[int, Sequence[CallOutcome]],
        keep: Callable[[int, Sequence[CallOutcome]], None],
        user: UserModel | None = None,
    ) -> None:
        self._agent = agent
        self._limits: Limits = agent.limits
        self._toolbox = toolbox
        self._ask = ask
        self._known_results = known_results
        self._keep = keep
        self._user = user

    async def attempt(self, attempt: Attempt) -> None:
        """Continue the attempt until it ends; `attempt` is updated in place.

        Raises:
            Stopped: the budget of the run is spent.
        """
        try:
            attempt.ended = await self._turns(attempt)
        except ProviderError as problem:
            attempt.ended = "context_limit" if problem.kind == "context_length" else "failed"
            attempt.error = f"{problem.kind}: {problem}"
        except UserFailed as problem:
            attempt.ended, attempt.error = "failed", str(problem)

    async def _turns(self, attempt: Attempt) -> Ended:
        limits = self._limits
        while True:
            if limits.max_cost_usd is not None and attempt.most_usd >= limits.max_cost_usd:
                return "cost_limit"
            if attempt.seconds >= limits.max_seconds:
                return "time_limit"
            reply = await self._reply(attempt)
            if reply.finish == "length":
                return "truncated"
            if reply.finish in ("refusal", "content_filter"):
                return "refused"
            if not reply.calls and (ended := await self._after_answer(attempt, reply)) is not None:
                return ended
            if attempt.steps >= limits.max_steps:
                return "step_limit"
            if not reply.calls:
                continue
            if attempt.calls > limits.max_calls:
                return "call_limit"
            attempt.error = await self._answer_calls(attempt, reply)
            if attempt.error is not None:
                return "failed"

    async def _after_answer(self, attempt: Attempt, reply: Reply) -> Ended | None:
        """How an attempt ends with a reply without calls; `None` if a simulated user goes on."""
        user = attempt.case.user
        if self._user is None or user is None or not reply.text.strip():
            return "answered"
        if len(attempt.user_replies) >= user.max_messages:
            return "user_limit"
        attempt.turns.append(Message("assistant", reply.text, wire=reply.wire))
        request = next_request(user, self._user.settings, attempt.turns, self._cache_key(attempt))
        entry = (await self._user.ask(request)).entry
        attempt.user_replies.append(entry)
        message = message_of(entry.reply)
        if message is None:
            return "answered"
        attempt.turns.append(Message("user", message))
        attempt.events.append(Asked(text=message))
        return None

    def _cache_key(self, attempt: Attempt) -> str:
        return digest(attempt.case.id, str(attempt.trial), self._agent.name)

    async def _reply(self, attempt: Attempt) -> Reply:
        """Call the model and record its reply and tool calls."""
        answered = await self._ask(
            Request(
                system=attempt.system,
                turns=tuple(attempt.turns),
                schema=None,
                max_output_tokens=self._agent.max_output_tokens,
                cache_key=self._cache_key(attempt),
                parameters=self._agent.parameters,
                tools=self._toolbox.offered,
            )
        )
        entry = answered.entry
        reply = entry.reply
        usage = Usage(
            input_tokens=reply.usage.input_tokens,
            cached_tokens=reply.usage.cached_tokens,
            output_tokens=reply.usage.output_tokens,
            cost_usd=entry.known_cost_usd,
        )
        attempt.most_usd += entry.cost_usd or 0.0
        attempt.steps += 1
        attempt.calls += len(reply.calls)
        attempt.seconds += entry.latency_ms / 1000
        attempt.usages.append(usage)
        attempt.said.append(reply.text)
        attempt.last_text = reply.text
        attempt.events.append(
            Said(
                agent_id=self._agent.name,
                thought=reply.thought,
                message=reply.text or None,
                calls=tuple(self._call(call) for call in reply.calls),
                latency_ms=entry.latency_ms,
                usage=usage,
            )
        )
        return reply

    async def _answer_calls(self, attempt: Attempt, reply: Reply) -> str | None:
        """Make all calls of a reply concurrently and add the results. Returns why a tool became unreachable, if so."""
        outcomes = self._known_results.get(attempt.steps)
        if outcomes is None or len(outcomes) != len(reply.calls):
            outcomes = await asyncio.gather(*(self._toolbox.call(call.name, call.arguments) for call in reply.calls))
            self._keep(attempt.steps, outcomes)
        attempt.seconds += max(outcome.duration_ms for outcome in outcomes) / 1000
        for call, outcome in zip(reply.calls, outcomes, strict=True):
            made = self._call(call)
            attempt.durations.setdefault(made.name, []).append(outcome.duration_ms)
            attempt.events.append(
                Result(content=outcome.content, call_id=call.id, error=outcome.error, latency_ms=outcome.duration_ms)
            )
        answers = tuple(
            ToolAnswer(id=call.id, content=outcome.content, failed=outcome.error is not None)
            for call, outcome in zip(reply.calls, outcomes, strict=True)
        )
        attempt.turns += [Message("assistant", reply.text, wire=reply.wire), Message("user", "", answers)]
        return next((outcome.error for outcome in outcomes if outcome.unreachable), None)

    def _call(self, call: ToolUse) -> Call:
        """The call with the tool's own name instead of the name that the provider allows."""
        tool = self._toolbox.named(call.name)
        name, server = (call.name, None) if tool is None else (tool.definition.name, tool.server)
        return Call(name=name, arguments=call.arguments, id=call.id, server=server)


def trajectory_of(attempt: Attempt, agent: AgentSettings, toolbox: Toolbox | None, trials: int) -> Trajectory:
    """Convert an attempt to a trajectory. The answer is the content of `<response>`, or else the last reply."""
    case = attempt.case
    text, turns = written(attempt.events)
    response = None
    if attempt.ended == "answered":
        response = last_tagged(attempt.last_text or "", "response") or _without_parts(attempt.last_text or "") or None
    everything = "\n".join(attempt.said)
    about: JsonObject = {
        "ended": attempt.ended,
        "steps": attempt.steps,
        "summary": last_tagged(everything, "summary"),
        "feedback": last_tagged(everything, "feedback"),
        "tool_calls": {
            name: {"count": len(durations), "durations_ms": [round(each, 3) for each in durations]}
            for name, durations in attempt.durations.items()
        },
    }
    if attempt.error is not None:
        about["error"] = attempt.error
    if attempt.user_replies:
        costs = [cost for entry in attempt.user_replies if (cost := entry.known_cost_usd) is not None]
        about["simulated_user"] = {"replies": len(attempt.user_replies), "cost_usd": sum(costs) if costs else None}
    flags = () if attempt.ended == "answered" else (attempt.ended,)
    return Trajectory(
        id=trajectory_id(case.id, attempt.trial, trials),
        task_id=case.id,
        trial=attempt.trial,
        format=NAME,
        task=case.prompt,
        text=text,
        turns=turns,
        agents=(
            Agent(
                id=agent.name,
                name=agent.name,
                model=agent.model_name,
                version=agent.version_name,
                tools=None if toolbox is None else toolbox.definitions,
            ),
        ),
        final_answer=response,
        reference_answer=None if case.answer is None else case.answer.value,
        started_at=attempt.started_at,
        duration_s=round(attempt.seconds, 6),
        usage=attempt.usage,
        flags=flags if response is not None else (*flags, "no_answer"),
        labels={name: value for name, value in (("category", case.category), ("tags", list(case.tags))) if value},
        extra=about,
    )


def trajectory_id(case_id: str, trial: int, trials: int) -> str:
    """The trajectory ID of an attempt, given the number of trials of its case."""
    return case_id if trials == 1 else f"{case_id}#{trial}"


def last_tagged(text: str, tag: str) -> str | None:
    """The content of the last `<tag>` in a text, up to the end if it is not closed. `None` if missing or empty."""
    start = text.rfind(f"<{tag}>")
    if start < 0:
        return None
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return text[start : end if end >= 0 else len(text)].strip() or None


def _without_parts(text: str) -> str:
    for tag in ("summary", "feedback"):
        text = re.sub(rf"<{tag}>.*?(?:</{tag}>|\Z)", "", text, flags=re.DOTALL)
    return text.strip()


def begun(case: Case, trial: int, agent: AgentSettings) -> Attempt:
    """A new attempt with the messages of the case. The system prompt is the agent's, followed by the case's."""
    system = [agent.system] if agent.system.strip() else []
    opening: list[Message] = []
    if case.message is not None:
        opening.append(Message("user", case.message))
    for message in case.messages:
        if message.role == "system":
            system.append(message.content)
        elif opening and opening[-1].role == message.role:
            opening[-1] = replace(opening[-1], text=f"{opening[-1].text}\n\n{message.content}")
        else:
            opening.append(Message(message.role, message.content))
    attempt = Attempt(case, trial, system="\n\n".join(system), turns=opening)
    for turn in opening:
        said: Any = Asked(text=turn.text) if turn.role == "user" else Said(agent_id=agent.name, message=turn.text)
        attempt.events.append(said)
    return attempt
