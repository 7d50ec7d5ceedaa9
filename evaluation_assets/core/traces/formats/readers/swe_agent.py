"""SWE-agent trajectories (.traj): steps with thought, action and observation, and the submitted patch.

The exit status only tells how the run ended. Success is taken from the test report in the same drop, if there is one.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.patch_reports import PatchReports, each_tested_run
from evaluation_assets.core.traces.formats.templates import filled_in
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, Transcript, flags_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import as_object, at, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "swe_agent"
DESCRIPTION = "SWE-agent trajectories (.traj), with test reports from the same drop"
DETECTION = "records whose trajectory, or history alone, has an action, an observation and a thought or response"

_COMMANDS = {
    "create", "edit", "exit_cost", "exit_error", "exit_format", "exit_forfeit", "filemap", "find_file", "goto",
    "insert", "open", "scroll_down", "scroll_up", "search_dir", "search_file", "str_replace_editor", "submit",
    "undo_edit",
}  # fmt: skip
"""Commands that SWE-agent adds to the shell; any other action is a shell command."""

_FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SOLVED = "target"
"""Whether the run solved the issue, in records of a dataset."""

_OWN = ("history", "info", "environment", "replay_config")
"""Fields of which its records have some; other agents write steps with the same names."""

_CUT_OFF = re.compile(r"exit_(?:cost|context|total|command_timeout)|max_step|limit", re.IGNORECASE)
_BROKEN = re.compile(r"exit_(?:api|environment_error|error)", re.IGNORECASE)
"""Exit statuses for which the agent is not to blame."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per run; outcomes come from the test reports."""
    return each_tested_run(files, detect, NAME, trajectory_of, unmapped)


def trajectory_of(reports: PatchReports, unmapped: UnmappedFields, record: Record) -> Trajectory:
    """Build the trajectory of one run.

    Raises:
        UnusableRecord: the record is not an object or has no steps.
    """
    data = _with_steps(record.json_object())
    is_demonstration = "trajectory" not in data
    if is_demonstration:
        data["trajectory"] = list(_steps_in(objects_in(data.get("history"))))
    with unmapped.reading(data) as fields, unmapped.reading(_config_of(data), "replay_config.") as config:
        fields.set_aside("replay_config", "environment")
        history = _History(fields.objects("history"))
        transcript = Transcript()
        if history.prompt is not None:
            transcript.asked(Asked(text=history.prompt))
        for step in fields.objects("trajectory"):
            _step(step, transcript, history)
        text, turns = transcript.finished("'trajectory' has no steps")
        setup, problem = config.object("agent"), config.object("problem_statement")
        model, templates = setup.object("model"), setup.object("templates")
        info = fields.object("info")
        stats = info.object("model_stats")
        prompt = history.prompt or ""
        template = templates.text("instance_template")
        task = problem.text("text") or filled_in(prompt, template, "problem_statement") or prompt
        instance = fields.recorded_id("instance_id") or info.recorded_id("instance_id") or problem.recorded_id("id")
        task_id = task_id_of(instance or _stem(record.source), task, text)
        report = reports.of(task_id)
        status, patch = info.text("exit_status"), info.text("submission")
        solved = fields.outcome(_SOLVED)
        stopped = status is not None and _CUT_OFF.search(status) is not None
        broken = status is not None and _BROKEN.search(status) is not None
        sent, received = stats.whole("tokens_sent"), stats.whole("tokens_received")
        agent = Agent(
            id="agent",
            name=setup.text("name"),
            description=history.system,
            model=model.text("name") or fields.text("model_name"),
            version=info.name("swe_agent_version"),
        )
        stats.set_aside("api_calls", "total_cost")  # the number of steps; the cumulative cost of all runs
        ignore_rest(templates, model, setup, problem, config)  # harness configuration
        return Trajectory(
            id=task_id,
            task_id=task_id,
            format=NAME,
            task=task,
            text=text,
            agents=(agent,),
            turns=turns,
            final_answer=patch,
            success=solved if report is None else report.resolved,
            usage=usage(
                sent or None, received or None, stats.number("instance_cost", "task_cost")
            ),  # 0 where steps were replayed
            flags=flags_of(cut_off=stopped, unanswered=patch is None and not is_demonstration, failed=broken),
            labels=info.short("score") | ({} if report is None else report.labels),
            extra={} if status is None else {"exit_status": status, **({"error": status} if broken else {})},
        )


class _History:
    """Read the model's messages: prompts, and original calls, which the steps only have as commands."""

    def __init__(self, messages: Sequence[Fields]) -> None:
        self.system: str | None = None
        self.prompt: str | None = None
        self._calls: dict[str, deque[Call | None]] = {}
        for message in messages:
            role, content, action = message.text("role"), _content(message), message.text("action")
            is_demo = message.flag("is_demo") is True
            if not is_demo and role == "system":
                self.system = self.system or content
            elif not is_demo and role == "user":
                self.prompt = self.prompt or content
            called = _tool_calls(message)
            if action is not None and not is_demo:
                self._calls.setdefault(action, deque()).append(called[0] if len(called) == 1 else None)
            message.rest()  # repeated in the steps

    def call(self, action: str) -> Call:
        """The call of a command: as written by the model, or derived from the command."""
        waiting = self._calls.get(action)
        if waiting and (written := waiting.popleft()) is not None:
            return written
        name = action.split(maxsplit=1)[0]
        return Call(name=name if name in _COMMANDS else "bash", arguments=action)


def _step(fields: Fields, transcript: Transcript, history: _History) -> None:
    action, observation = fields.text("action"), fields.text("observation")
    response, thought = fields.text("response"), fields.text("thought")
    seconds = fields.amount("execution_time")
    fields.set_aside("state", "messages", "query", "extra_info", "tool_calls", "tool_call_ids", "thinking_blocks")
    latency = None if seconds is None else seconds * 1000
    if action is None:
        transcript.said(Said(message=thought or response))
        if observation is not None:
            transcript.observed(Result(content=observation, latency_ms=latency))
        return
    result = None if observation is None else Result(content=observation, latency_ms=latency)
    transcript.said(Said(thought=thought or response, calls=(history.call(action.strip()),)), [result])


def _content(message: Fields) -> str | None:
    if not message.is_list("content"):
        return message.text("content")
    texts = [text for part in message.objects("content") if (text := part.text("text")) is not None]
    return "\n".join(texts) or None


def _tool_calls(message: Fields) -> list[Call]:
    calls = []
    for called in message.objects("tool_calls"):
        function = called.object("function")
        name, arguments = function.text("name"), function.value("arguments")
        if name is not None:
            calls.append(Call(name=name, id=called.name("id"), arguments=arguments))
        ignore_rest(function, called)
    return calls


def _config_of(data: dict[str, Any]) -> dict[str, Any]:
    """The run configuration: an object, or one serialised as text."""
    return as_object(data.get("replay_config")) or {}


def _stem(source: str) -> str:
    """The file name without extensions, which is the task id."""
    return source.rsplit("/", 1)[-1].partition(".traj")[0]


def _steps_in(history: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The steps of a demonstration, which has only its messages: each action with the next observation."""
    messages = list(history)
    for message, following in zip_longest(messages, messages[1:]):
        if message.get("message_type") == "action" and message.get("is_demo") is not True:
            shown = following.get("content") if at(following, "message_type") == "observation" else None
            kept = {"action": message.get("action"), "thought": message.get("thought") or message.get("content")}
            yield {**kept, **({} if shown is None else {"observation": shown})}


def _with_steps(data: JsonObject) -> JsonObject:
    """A record of a dataset whose trajectory are messages, with steps instead; any other record unchanged.

    The last fenced block of an answer is its command, and the next message shows what that printed.
    """
    messages = list(objects_in(data.get("trajectory")))
    if not any(map(_is_answer, messages)):
        return data
    steps = [_step_of(message, following) for message, following in zip_longest(messages, messages[1:])]
    prompts = [
        {"role": message.get("role"), "content": message.get("system_prompt") or message.get("text")}
        for message in takewhile(lambda message: not _is_answer(message), messages)
    ]
    info = {"exit_status": data.get("exit_status"), "submission": data.get("generated_patch")}
    others = {key: value for key, value in data.items() if key not in ("exit_status", "generated_patch", "eval_logs")}
    return {**others, "history": prompts, "trajectory": [step for step in steps if step is not None], "info": info}


def _step_of(message: JsonObject, following: JsonObject | None) -> JsonObject | None:
    if not _is_answer(message):
        return None
    text = message["text"]
    *_, command = _FENCE.finditer(text) if _FENCE.search(text) else (None,)
    shown = at(following, "text") if at(following, "role") == "user" else None
    thought = text if command is None else f"{text[: command.start()]}{text[command.end() :]}".strip()
    called = {} if command is None else {"action": command[1].strip()}
    return {"thought": thought, **called, **({} if shown is None else {"observation": shown})}


def _is_answer(message: Any) -> bool:
    return at(message, "role") == "ai" and isinstance(at(message, "text"), str)


def _is_run(record: Any) -> bool:
    if not isinstance(record, dict):
        return False
    record = _with_steps(record)
    if "trajectory" not in record:
        steps = list(_steps_in(objects_in(record.get("history"))))
    elif not isinstance(steps := record["trajectory"], list):
        return False
    is_own = any(name in record for name in _OWN)
    return any(
        isinstance(step, dict)
        and (is_own or "response" in step or "state" in step)
        and isinstance(step.get("action"), str)
        and isinstance(step.get("observation"), str)
        and ("thought" in step or "response" in step)
        and "source" not in step
        for step in steps
    )


detect = any_record(_is_run)
