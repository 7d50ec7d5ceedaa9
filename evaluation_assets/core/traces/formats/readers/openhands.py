"""OpenHands event streams, and output records of its evaluations, which contain such a stream.

The result of an action is the observation that names it as `cause`. Each user message starts a task: a session with six
user messages becomes six trajectories. Costs and tokens are cumulative over the session and reset when a session is
resumed, so the usage of a step is the difference to the previous step. After a reset it is what the response states.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.coding.openhands_events import are_flat, with_sources
from evaluation_assets.core.traces.formats.coding.session_logs import units_in
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.final_answers import final_message, final_submission
from evaluation_assets.core.traces.formats.isolation import each_own_file, usable
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_in
from evaluation_assets.core.traces.formats.run_usage import with_cost
from evaluation_assets.core.traces.formats.times import elapsed_ms, elapsed_s
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, Transcript, flags_of, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import listed
from evaluation_assets.core.traces.formats.usage import UNKNOWN, at_list_price, confirm, usage, usage_of
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Tool, Trajectory, Usage

NAME = "openhands"
DESCRIPTION = "OpenHands event streams (one trajectory per user message), and output records of its evaluations"
DETECTION = (
    "events with a source and an action with args or an observation with content; or records with such a history"
)

_SOURCES = ("user", "agent", "environment")
_SILENT = {
    "recall",
    "null",
    "agent_state_changed",
    "change_agent_state",
    "condensation",
    "condensation_request",
    "pause",
}
"""Internal events of the framework, which are not part of the conversation."""

_HOUSEKEEPING = {
    "thought", "is_input", "blocking", "is_static", "cwd", "hidden", "confirmation_state", "security_risk",
    "impl_source", "image_urls", "file_urls", "wait_for_response", "kernel_init_code", "include_extra", "return_axtree",
    "keep_prompt", "is_confirmed", "action_risk",
}  # fmt: skip
_CUT_OFF = re.compile(r"max(?:imum)?[ _]?(?:number of )?(?:iteration|step|budget)", re.IGNORECASE)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per user message of a stream, or per output record."""
    return each_own_file(files, detect, NAME, partial(_trajectories, unmapped))


_COUNTED = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class _Counters:
    """What a session has used so far. Tokens that LiteLLM wrote to a cache may stand beside those of the prompts."""

    prompt: int | None = None
    read: int | None = None
    written: int | None = None
    completion: int | None = None
    cost_usd: float | None = None

    @property
    def counts_tokens(self) -> bool:
        """Whether these are not only of a cost."""
        return self.prompt is not None or self.completion is not None

    def or_those(self, before: "_Counters") -> "_Counters":
        """These counters, with those before where they are unknown."""
        pairs = zip(astuple(self), astuple(before), strict=True)
        return _Counters(*(last if new is None else new for new, last in pairs))

    def fell(self, before: "_Counters") -> bool:
        """Whether some counter is less than before."""
        return any(added is not None and added < 0 for added in self._since(before))

    def usage_since(self, before: "_Counters") -> Usage | None:
        """What was added; `None` after another call of the same response, which adds nothing."""
        prompt, read, written, completion, cost = self._since(before)
        if not any((prompt, read, written, completion, cost)):
            return None
        beside = prompt is not None and written is not None and prompt < (read or 0) + written
        whole = None if prompt is None else int(prompt + (written or 0 if beside else 0))
        tokens = [None if count is None else int(count) for count in (completion, read, written)]
        return usage(whole, tokens[0], cost, tokens[1], tokens[2])

    def _since(self, before: "_Counters") -> list[float | None]:
        pairs = zip(astuple(self), astuple(before), strict=True)
        return [None if new is None or new < 0 else new - (last or 0) for new, last in pairs]


@dataclass(slots=True)
class _Session:
    """State of a stream that later tasks need: the agent and the cumulative usage."""

    agent: Agent = field(default_factory=lambda: Agent(id="agent"))
    used: _Counters = _Counters()


def _trajectories(unmapped: UnmappedFields, file: DropFile) -> Iterator[Trajectory | Rejection]:
    session = _Session()
    for unit in units_in(read_records(file), begins=_begins, is_whole=lambda data: _history_of(data) is not None):
        if isinstance(unit, Rejection):
            yield unit
        elif _history_of(unit[0].data) is not None:
            yield usable(unit[0], lambda found: _output_record(found, unmapped), is_whole=True)
        else:
            events = [record.data for record in unit]
            yield usable(unit[0], lambda _, events=events: _Run(session, unmapped, events).trajectory(), goes_on=True)


def _begins(unit: Unit, data: Any) -> bool:
    return _is_task(data) and any(_is_task(event.data) for event in unit)


def _output_record(record: Record, unmapped: UnmappedFields) -> Trajectory:
    """Build the trajectory of one evaluation output record, which is a single run."""
    with unmapped.reading(record.data) as fields:
        history = fields.items("history", "trajectory")
        events = with_sources(history) if are_flat(history) else [event for item in history for event in listed(item)]
        session = _Session()
        _settings(fields.object("metadata"), session)
        task_id = fields.recorded_id("instance_id") or _issue_in(fields.object("issue"))
        run = _Run(session, unmapped, events).trajectory(fields.text("instruction"), task_id)
        fields.set_aside("instance", "error_counts")  # the task's row in the dataset
        test, metrics = fields.object("test_result"), fields.object("metrics")
        report = (test if "report" in test else fields).object("report")
        cost = metrics.number("accumulated_cost") or None  # 0 of a model whose price is not known
        whole = _whole(metrics.object("accumulated_token_usage"))
        confirm(fields.stated, whole, run.usage)
        used = with_cost(whole or run.usage, cost)
        metrics.set_aside("costs", "response_latencies", "token_usages")
        error = fields.text("error")
        answer = test.text("git_patch") or fields.text("git_patch") or run.final_answer
        guessed = fields.short("success", "comment_success", "result_explanation")  # the resolver asks a model for it
        stopped = "step_limit" in run.flags or (error is not None and _CUT_OFF.search(error) is not None)
        resolved = report.outcome("resolved")
        tests = report.rest()
        return replace(
            run,
            final_answer=answer,
            success=resolved,
            usage=used,
            flags=flags_of(cut_off=stopped, unanswered=not answer),
            labels={
                name: named_report for name, named_report in (("report", tests), ("resolver", guessed)) if named_report
            },
            extra={"error": error} if error else {},
        )


def _whole(counted: Fields) -> Usage | None:
    """The tokens of a whole run, where they are counted."""
    counters = _Counters(*map(counted.whole, _COUNTED))
    ignore_rest(counted)
    return counters.usage_since(_Counters())


def _issue_in(issue: Fields) -> str | None:
    """The issue that the resolver worked on, as `owner/repository#number`."""
    owner, repository, number = issue.text("owner"), issue.text("repo"), issue.whole("number")
    issue.rest()
    return None if number is None else f"{owner}/{repository}#{number}"


def _settings(metadata: Fields, session: _Session) -> None:
    """Read the agent metadata of an evaluation."""
    llm = metadata.object("llm_config")
    session.agent = Agent(id="agent", name=metadata.text("agent_class"), model=llm.text("model"))
    llm.rest()
    metadata.set_aside(
        "eval_output_dir", "start_time", "git_commit", "dataset", "data_split", "details", "max_iterations"
    )


class _Run:
    """Writes the events of one run to a transcript."""

    def __init__(self, session: _Session, unmapped: UnmappedFields, events: Sequence[Any]) -> None:
        self._session = session
        self._unmapped = unmapped
        self._events = [event for event in events if isinstance(event, dict)]
        self._answers = {
            event["cause"]: event
            for event in self._events
            if isinstance(event.get("observation"), str) and isinstance(event.get("cause"), int)
        }
        self._answered: set[int] = set()
        self._transcript = Transcript()
        self._asked: list[str] = []
        self._times: list[str] = []
        self._stopped = False
        if len(self._events) < len(events):
            unmapped.count("events[] (no object)", len(events) - len(self._events))

    def trajectory(self, task: str | None = None, task_id: str | None = None) -> Trajectory:
        """Build the trajectory of all events.

        Raises:
            UnusableRecord: there is no agent action.
        """
        for event in self._events:
            if id(event) not in self._answered:
                with self._unmapped.reading(event, "events[].") as fields:
                    self._add(event, fields)
        text, turns = self._transcript.finished("no event is an agent action")
        task = task or (self._asked[0] if self._asked else "")
        task_id = task_id_of(task_id, task, text)
        answer = final_submission(text, turns) or final_message(turns)
        steps = [step for turn in turns for interaction in turn.interactions for step in interaction.steps]
        return Trajectory(
            id=task_id,
            task_id=task_id,
            format=NAME,
            task=task,
            text=text,
            agents=(self._session.agent,),
            turns=turns,
            final_answer=answer,
            started_at=self._times[0] if self._times else None,
            duration_s=elapsed_s(self._times[0], self._times[-1]) if self._times else None,
            usage=total(step.usage for step in steps),
            flags=flags_of(cut_off=self._stopped, unanswered=not answer),
        )

    def _add(self, event: JsonObject, fields: Fields) -> None:
        kind, source, time = (
            fields.text("action") or fields.text("observation"),
            fields.text("source"),
            fields.text("timestamp"),
        )
        fields.set_aside("id", "message", "timeout", "cause")
        arguments = fields.object("args")
        if time is not None and kind not in _SILENT and kind != "system":
            self._times.append(time)
        if kind == "system":
            self._describe(arguments)
        elif kind in _SILENT:
            self._set_aside(kind, fields, arguments)
        elif "action" in fields and kind == "message" and source == "user":
            if (said := arguments.text("content") or fields.text("message")) is not None:
                self._asked.append(said)
                self._transcript.asked(Asked(text=said))
            arguments.set_aside(*_HOUSEKEEPING)
        elif "action" in fields and source == "agent":
            self._act(event, kind or "", fields, arguments)
        elif "observation" in fields and (content := fields.text("content")) is not None:
            self._transcript.observed(Result(content=content, error=content[:200] if kind == "error" else None))
            fields.set_aside("extras")
        else:
            self._set_aside(kind or "unknown", fields, arguments)

    def _describe(self, arguments: Fields) -> None:
        """Read the system event, which describes the agent."""
        arguments.set_aside("disabled_microagents")
        tools: tuple[Tool, ...] | None = tools_in(arguments.items("tools")) if "tools" in arguments else None
        self._session.agent = replace(
            self._session.agent,
            name=arguments.text("agent_class") or self._session.agent.name,
            description=arguments.text("content"),
            version=arguments.name("openhands_version"),
            tools=tools,
        )

    def _set_aside(self, kind: str, fields: Fields, arguments: Fields) -> None:
        """Skip an event: count it as unmapped, without its fields."""
        extras = fields.object("extras")
        self._stopped = self._stopped or _CUT_OFF.search(extras.text("reason") or "") is not None
        ignore_rest(extras, arguments, fields)
        self._unmapped.count(f"events[] ({kind})")

    def _act(self, event: JsonObject, kind: str, fields: Fields, arguments: Fields) -> None:
        thought = arguments.text("thought")
        call, response = self._call(kind, fields.object("tool_call_metadata"), arguments)
        used = self._usage(fields.object("llm_metrics"), response)
        if kind == "message":
            self._transcript.said(Said(thought=thought, message=arguments.text("content"), usage=used))
            arguments.set_aside(*_HOUSEKEEPING)
            return
        observation = self._answers.get(event.get("id")) if isinstance(event.get("id"), int) else None
        if kind == "think":
            if observation is not None:
                self._answered.add(id(observation))  # only confirms that the thought was logged
            arguments.rest()
            self._transcript.said(Said(thought=thought, usage=used))
            return
        result = None if observation is None else self._result(observation, event.get("timestamp"))
        self._transcript.said(Said(thought=thought, calls=(call,), usage=used), [result])

    def _call(self, kind: str, metadata: Fields, arguments: Fields) -> tuple[Call, Fields]:
        """The call as written by the model, or as parsed by the framework, and the model's response."""
        name, call_id = metadata.text("function_name") or kind, metadata.name("tool_call_id")
        metadata.set_aside("total_calls_in_response")
        response = metadata.object("model_response")
        written: Any = None
        for choice in response.objects("choices"):
            message = choice.object("message")
            for called in message.objects("tool_calls"):
                function = called.object("function")
                if called.name("id") == call_id:
                    written = function.value("arguments")
                ignore_rest(function, called)
            ignore_rest(message, choice)
        understood = {key: value for key, value in arguments.rest().items() if key not in _HOUSEKEEPING}
        return Call(name=name, id=call_id, arguments=understood if written is None else written), response

    def _usage(self, metrics: Fields, response: Fields) -> Usage | None:
        """Usage of this step: what was added to the counters, or what its response states if these fell.

        Counters that fell and show no more than that response began again at 0: they have its cost. Other counters are
        those of an earlier state of the session, and do not tell it.
        """
        counted = metrics.object("accumulated_token_usage")
        model = response.text("model") or counted.text("model")
        if model is not None and self._session.agent.model is None:
            self._session.agent = replace(self._session.agent, model=model)
        used = _Counters(*map(counted.whole, _COUNTED), cost_usd=metrics.number("accumulated_cost"))
        own = response.object("usage")
        answered = usage_of(own)
        begun = _Counters(own.whole(_COUNTED[0]), completion=own.whole(_COUNTED[3]))
        ignore_rest(own, response, counted, metrics)
        before = self._session.used
        if used == _Counters():
            return answered
        self._session.used = used.or_those(before)
        if not used.fell(before):
            added = used.usage_since(before)
            return added if added is None or used.counts_tokens else with_cost(answered, added.cost_usd)
        if (used.prompt, used.completion) == (begun.prompt, begun.completion):
            return used.usage_since(_Counters())
        return at_list_price(answered, (model or "").rpartition("/")[2]) or UNKNOWN

    def _result(self, observation: JsonObject, called_at: Any) -> Result:
        self._answered.add(id(observation))
        with self._unmapped.reading(observation, "events[].") as fields:
            kind, time = fields.text("observation"), fields.text("timestamp")
            extras = fields.object("extras")
            metadata = extras.object("metadata")
            content = f"{metadata.text('prefix') or ''}{fields.text('content') or ''}{metadata.text('suffix') or ''}"
            code, success = (
                metadata.whole("exit_code") if "exit_code" in metadata else extras.whole("exit_code"),
                fields.outcome("success"),
            )
            ignore_rest(metadata, extras, fields)
        if time is not None:
            self._times.append(time)
        failed = success is False or (success is None and code not in (None, 0)) or kind == "error"
        error = f"exit code {code}" if code not in (None, 0) else content.strip()[:200] or "failed"
        latency = elapsed_ms(called_at if isinstance(called_at, str) else None, time)
        succeeded = success is True or (success is None and code == 0)
        return Result(
            content=content.strip("\n"), error=error if failed else None, latency_ms=latency, succeeded=succeeded
        )


def _is_event(record: Any) -> bool:
    if not isinstance(record, dict) or record.get("source") not in _SOURCES:
        return False
    if isinstance(record.get("action"), str):
        return isinstance(record.get("args"), dict)
    return isinstance(record.get("observation"), str) and "content" in record


def _is_task(event: Any) -> bool:
    """Whether an event is a user message."""
    return _is_event(event) and (event["source"], event.get("action")) == ("user", "message")


def _history_of(record: Any) -> list[Any] | None:
    """The event stream of a record; older outputs have pairs of action and observation."""
    if not isinstance(record, dict):
        return None
    for name in ("history", "trajectory"):
        items = record.get(name)
        if isinstance(items, list) and (
            are_flat(items) or any(_is_event(event) for item in items for event in listed(item))
        ):
            return items
    return None


detect = any_record(lambda record: _is_event(record) or _history_of(record) is not None)
