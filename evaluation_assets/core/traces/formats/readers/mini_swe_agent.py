"""mini-SWE-agent trajectories: a thought and one command per reply, the command's output in the next message.

The exit status only tells how the run ended. Success is taken from the test report in the same drop, if there is one.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.messages.written_calls import return_code_in
from evaluation_assets.core.traces.formats.patch_reports import PatchReports, each_tested_run
from evaluation_assets.core.traces.formats.templates import filled_in
from evaluation_assets.core.traces.formats.times import moment
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, flags_of, total, written
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.usage import UNKNOWN, usage, usage_of
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory, Usage

NAME = "mini_swe_agent"
DESCRIPTION = "mini-SWE-agent trajectories (.traj.json), with test reports from the same drop"
DETECTION = "records whose trajectory_format starts with mini-swe-agent, or with messages and info.mini_version"

_COMMAND = re.compile(r"^```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)\n?^```[ \t]*$", re.MULTILINE | re.DOTALL)
_THOUGHT = re.compile(r"\s*THOUGHTS?:\s*")
_TIMED_OUT = re.compile(r"The last command <command>")
_CUT_OFF = re.compile(r"(?:Limits?|Budget|ContextWindow)Exceeded")
_BROKEN = re.compile(r"(?<!Format)(?:Error|Exception)$")
"""Names of exceptions that ended a run, such as `RateLimitError`; a `FormatError` is the agent's own."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per run; outcomes come from the test reports."""
    return each_tested_run(files, detect, NAME, trajectory_of, unmapped)


def trajectory_of(reports: PatchReports, unmapped: UnmappedFields, record: Record) -> Trajectory:
    """Build the trajectory of one record.

    Raises:
        UnusableRecord: the record is not an object or has no agent reply.
    """
    data = record.json_object()
    with unmapped.reading(data) as fields:
        fields.set_aside("trajectory_format")
        info = fields.object("info")
        config = info.object("config")
        harness, model = config.object("agent"), config.object("model")
        conversation = _Conversation()
        for message in fields.objects("messages"):
            conversation.add(message)
        if not conversation.events:
            raise UnusableRecord("no_trajectory_text", "'messages' has no agent reply")
        text, turns = written(conversation.events)
        prompt = next((event.text for event in conversation.events if isinstance(event, Asked)), "")
        task = filled_in(prompt, harness.text("instance_template"), "task") or prompt
        task_id = task_id_of(fields.recorded_id("instance_id") or info.recorded_id("instance_id"), task, text)
        report = reports.of(task_id)
        stats = info.object("model_stats")
        replies = sum(isinstance(event, Said) for event in conversation.events)
        unmapped.stated.compare("reply", stats.whole("api_calls") or None, replies)
        cost = stats.number("instance_cost", "total_cost")
        status, patch = info.text("exit_status"), info.text("submission")
        stopped = status is not None and _CUT_OFF.search(status) is not None
        broken = not stopped and status is not None and _BROKEN.search(status) is not None
        model_name = model.text("model_name")
        extra = _extra(status, model, config.object("environment"))
        ignore_rest(harness, model, config)  # harness configuration
        return Trajectory(
            id=task_id,
            task_id=task_id,
            format=NAME,
            task=task,
            text=text,
            agents=(
                Agent(
                    id="agent",
                    name="mini-swe-agent",
                    description=conversation.system,
                    model=model_name,
                    version=info.name("mini_version"),
                ),
            ),
            turns=turns,
            final_answer=patch,
            success=None if report is None else report.resolved,
            started_at=conversation.started_at,
            usage=_total([event.usage for event in conversation.events if isinstance(event, Said)], cost),
            flags=flags_of(cut_off=stopped, unanswered=patch is None, failed=broken),
            labels={} if report is None else report.labels,
            extra={**extra, "error": status} if broken else extra,
        )


class _Conversation:
    """Convert messages to events; the first user message is the task, later ones are observations."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.system: str | None = None
        self.started_at: str | None = None

    def add(self, message: Fields) -> None:
        role, content, extra = message.text("role"), _content(message), message.object("extra")
        if role == "system":
            self.system = self.system or content
        elif role == "assistant":
            self._replied(message, content or "", extra)
        elif content is not None and not any(isinstance(event, Said) for event in self.events):
            self.events.append(Asked(text=content))
        elif content is not None:
            self.events.append(_observation(content, message.name("tool_call_id"), extra))
        extra.rest()  # repeats the message in structured form

    def _replied(self, message: Fields, content: str, extra: Fields) -> None:
        response = extra.object("response")
        self.started_at = self.started_at or moment(response, "created")
        choices = response.objects("choices")
        replies = [choice.object("message") for choice in choices]
        reasoning = replies[0].text("reasoning", "reasoning_content") if replies else None
        counted = response.object("usage")
        counted.set_aside("cost_details", "is_byok")
        used = usage_of(counted)
        calls = _tool_calls(message)
        commands = _COMMAND.findall(content)
        if not calls and len(commands) == 1:
            calls = (Call(name="bash", arguments=commands[0]),)
            content = _COMMAND.sub("", content)
        thought = "\n\n".join(part for part in (reasoning, _THOUGHT.sub("", content, count=1).strip()) if part)
        self.events.append(Said(thought=thought or None, calls=calls, usage=used))
        ignore_rest(*replies, *choices, response, extra)  # repeats the reply, with provider metadata


def _content(message: Fields) -> str | None:
    parts = message.objects("content") if message.is_list("content") else None
    if parts is None:
        return message.text("content")
    texts = [text for part in parts if (text := part.text("text")) is not None]
    for part in parts:
        part.set_aside("type", "cache_control")
    return "\n".join(texts) or None


def _tool_calls(message: Fields) -> tuple[Call, ...]:
    calls = []
    for called in message.objects("tool_calls"):
        called.set_aside("type", "index")
        function = called.object("function")
        arguments = function.value("arguments")
        calls.append(Call(name=function.text("name") or "bash", id=called.name("id"), arguments=arguments))
    return tuple(calls)


def _observation(content: str, call_id: str | None, extra: Fields) -> Result:
    stated = return_code_in(content)
    code = extra.whole("returncode") if stated is None else stated
    error = f"return code {code}" if code else "timed out" if _TIMED_OUT.match(content) else None
    return Result(content=content, call_id=call_id, error=error, succeeded=code == 0)


def _total(replies: Sequence[Usage | None], cost: float | None) -> Usage | None:
    """Total tokens of all replies, unless some lack theirs, with the recorded total cost."""
    known = total(used or UNKNOWN for used in replies) or UNKNOWN
    spent = known.cost_usd if cost is None else cost
    return usage(known.input_tokens, known.output_tokens, spent, known.cached_tokens)


def _extra(status: str | None, model: Fields, environment: Fields) -> JsonObject:
    kept = {
        "exit_status": status,
        "model_settings": model.object("model_kwargs").rest(),
        "image": environment.text("image"),
    }
    environment.rest()
    return {name: value for name, value in kept.items() if value}


def _is_run(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        return False
    info, named = record.get("info"), record.get("trajectory_format")
    by_name = isinstance(named, str) and named.startswith("mini-swe-agent")
    return by_name or (isinstance(info, dict) and "mini_version" in info)


detect = any_record(_is_run)
