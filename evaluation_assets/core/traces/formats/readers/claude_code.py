"""Claude Code session logs: one JSON object per line, as stored by the client or printed as `stream-json`.

A session is one trajectory. Sub-agents write sidechains, in the session's file or in separate files; each becomes an
agent whose steps come before the result of the call that started it.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import (
    DropFile,
    Record,
    Rejection,
    Sample,
    UnusableRecord,
)
from evaluation_assets.core.traces.formats.coding.agent_sdk_messages import as_line
from evaluation_assets.core.traces.formats.coding.claude_code_files import (
    SubAgents,
    origins_first,
    own_records,
    session_files,
)
from evaluation_assets.core.traces.formats.coding.claude_code_lines import Chain, Reply, SessionLines
from evaluation_assets.core.traces.formats.coding.claude_code_totals import at_least, confirm_printed
from evaluation_assets.core.traces.formats.context import ended_by
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import own_files, sample_of
from evaluation_assets.core.traces.formats.final_answers import last_words
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.readers.cursor import is_cursor_line
from evaluation_assets.core.traces.formats.times import active_seconds, chronological, elapsed_s
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, Transcript, flags_of, total
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, Trajectory, Usage
from evaluation_assets.core.traces.trajectories.requests import KEPT, Request, are_all, kept

NAME = "claude_code"
DESCRIPTION = "Claude Code session logs (.jsonl) with sub-agents, and stream-json output"
DETECTION = "lines with a type, a sessionId or session_id, and a message; or other entries of such a log"

_SUB_AGENT = "sub-agent"
_ENTRIES = ("user", "assistant", "system", "result")


def detect(sample: Sample) -> bool:
    """Whether a sample of records is in this format."""
    return any(map(_is_entry, map(as_line, sample.records))) and not any(map(is_cursor_line, sample.records))


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per session, including the files of its sub-agents."""
    own: list[DropFile] = []
    beside = SubAgents()
    for file in own_files(session_files(files, beside, unmapped), detect, NAME):
        if isinstance(file, Rejection):
            yield file
        else:
            own.append(file)
    _look_at(own, beside)
    inside = {inner.source for inners in beside.logs.values() for inner in inners}
    for file in origins_first([file for file in own if file.source not in inside]):
        yield from _sessions(file, beside, unmapped)
    for orphans in beside.logs.values():  # their session is not in the drop
        for file in orphans:
            unmapped.note("orphan_session", file.source)
            yield from _sessions(file, SubAgents(), unmapped)


def _look_at(files: Sequence[DropFile], beside: SubAgents) -> None:
    """Note the sessions of the files and, by session, the files that contain only a sidechain, if there are others."""
    for file in files:
        records = sample_of(file).records
        beside.sessions.update(filter(None, map(_session_of, records)))
        entries = [record for record in records if _is_entry(record)]
        if len(files) > 1 and entries and all(entry.get("isSidechain") is True for entry in entries):
            beside.logs.setdefault(str(_session_of(entries[0])), []).append(file)


def _sessions(file: DropFile, beside: SubAgents, unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    records: list[Record] = []
    unnamed: list[Record] = []
    session: str | None = None
    latest = records
    for record in own_records(file, beside, unmapped):
        if isinstance(record, Rejection):
            yield record
            continue
        if not isinstance(record.data, dict) or not (record.data.get("type") or _session_of(record.data)):
            yield record.rejected(UnusableRecord("wrong_type", "expected an object with a type or a sessionId"))
            continue
        following = _session_of(record.data)
        if following is not None:
            if following != session and (session is not None or unnamed):
                yield from _both(records, session, unnamed, beside, unmapped)
                records, unnamed = [], []
            session, latest = following, records
        elif _is_null(record.data):
            latest = unnamed
        latest.append(record)
    yield from _both(records, session, unnamed, beside, unmapped)


def _both(
    records: list[Record],
    session: str | None,
    unnamed: list[Record],
    beside: SubAgents,
    unmapped: UnmappedFields,
) -> Iterator[Trajectory | Rejection]:
    """A session, and what stood between or after its lines without the ID of a session."""
    if records:
        yield from _one(records, session, beside, unmapped)
    if unnamed and (not records or any(_is_unnamed(record.data) for record in unnamed)):
        yield from _one(unnamed, None, beside, unmapped)
    elif unnamed:
        unmapped.count("lines[] (without the ID of a session)", len(unnamed))


def _one(
    records: list[Record], session: str | None, beside: SubAgents, unmapped: UnmappedFields
) -> Iterator[Trajectory | Rejection]:
    for file in beside.logs.pop(session or "", []):
        for record in read_records(file):
            if isinstance(record, Rejection):
                yield record
            else:
                records.append(record)
    lines = [record.data for record in records]
    yield usable(
        records[0], lambda _: _Session(session or None, unmapped, lines, beside.started).trajectory(), goes_on=True
    )


class _Session:
    """Writes the chains of a session to a transcript."""

    def __init__(
        self, session: str | None, unmapped: UnmappedFields, lines: Sequence[Any], started: Mapping[str, str]
    ) -> None:
        self._session = session
        self._started = started
        self._unmapped = unmapped
        self._lines = SessionLines(lines, unmapped)
        self._chain_of_call: dict[str, Chain] = {}
        self._transcript = Transcript()
        self._main_agent = self._lines.client.agent
        self._agents: dict[str, Agent] = {self._main_agent: Agent(id=self._main_agent)}
        self._asked: list[str] = []

    def trajectory(self) -> Trajectory:
        """Build the trajectory of all lines.

        Raises:
            UnusableRecord: there is no agent message or tool call.
        """
        main = self._main()
        self._match()
        self._confirm_calls()
        taken_back = self._take_back()
        if main.prompt is not None:
            self._asked.append(main.prompt)
            self._transcript.asked(Asked(text=main.prompt))
        client, name = self._lines.client, self._main_agent
        self._agents[name] = Agent(id=name, name=client.name, model=main.model, tools=self._lines.tools)
        self._write(main, name)
        for chain in self._lines.chains.values():  # chains that started each other
            self._hand_over(chain, name, _SUB_AGENT)
        if self._transcript.steps_written == 0 and self._lines.outcome and not self._lines.failure:
            self._transcript.said(Said(agent_id=name, message=self._lines.outcome))  # printed without what led to it
        text, turns = self._transcript.finished("no line has an agent message or a tool call")
        task = next(iter(self._asked), "")
        task_id = task_id_of(None, task, text)
        failure, ended = self._lines.failure, ended_by(self._lines.stop_reason)
        answer = None if failure else self._lines.outcome or (_last_words(main) if len(turns) == 1 else None)
        confirm_printed(self._lines, self._unmapped.stated)
        times = sorted(self._lines.times, key=chronological)  # lines of sub-agents stand after those of their caller
        steps = [step for turn in turns for interaction in turn.interactions for step in interaction.steps]
        printed = at_least(self._lines.used, self._lines.used_by_models)
        used = at_least(total([*(step.usage for step in steps), *taken_back]), printed)
        spent = used.cost_usd if self._lines.spent is None else self._lines.spent
        counts = {"compactions": self._lines.compactions, "interruptions": self._lines.interruptions}
        more = {
            "active_s": active_seconds(times),
            "exit_codes": self._lines.exit_codes,
            KEPT: kept(self._requests(used)),
        }
        about = {"session_id": self._session, "error": failure, **self._lines.about, **counts, **more}
        return Trajectory(
            id=self._session or task_id,
            task_id=task_id,
            format=client.format,
            task=task,
            text=text,
            agents=tuple(replace(agent, version=self._lines.version) for agent in self._agents.values()),
            turns=turns,
            final_answer=answer,
            started_at=times[0] if times else None,
            duration_s=elapsed_s(times[0], times[-1]) if times else self._lines.duration_s,
            usage=usage(
                used.input_tokens,
                used.output_tokens,
                spent,
                used.cached_tokens,
                used.cache_write_tokens,
                used.cache_write_1h_tokens,
            ),
            flags=flags_of(
                cut_off=self._lines.stopped or ended.cut_off,
                truncated=ended.truncated,
                refused=ended.refused,
                unanswered=answer is None and len(turns) == 1,
                failed=failure is not None,
            ),
            extra={name: value for name, value in about.items() if value},
        )

    def _requests(self, used: Usage) -> Sequence[Request]:
        """All requests, also those of what the user took back, which were paid for; else what each model used."""
        chains = (*self._lines.chains.values(), self._lines.left_behind)
        replies = [event for chain in chains for event in chain.events if isinstance(event, Reply)]
        requests = [Request(reply.model, reply.usage) for reply in replies if reply.usage is not None]
        printed = self._lines.by_model
        is_all = are_all(used, [each.usage for each in printed]) and not are_all(
            used, [each.usage for each in requests]
        )
        return printed if is_all else requests

    def _main(self) -> Chain:
        """The main chain; in the separate log of a sub-agent, its only chain."""
        main = self._lines.chains[""]
        if len(self._lines.chains) > 1 and all(isinstance(event, Chain) for event in main.events):
            return next(chain for name, chain in self._lines.chains.items() if name)
        return main

    def _match(self) -> None:
        """Match calls to the chains they started, by agent id, call id or prompt."""
        prompts: dict[str, deque[Chain]] = {}
        for name, chain in self._lines.chains.items():
            if name and chain.prompt is not None:
                prompts.setdefault(chain.prompt, deque()).append(chain)
        for chain in (*self._lines.chains.values(), self._lines.left_behind):
            for call in (call for reply in chain.events if isinstance(reply, Reply) for call in reply.calls):
                if call.id is None:
                    continue
                agent = self._lines.agent_of_call.get(call.id) or self._started.get(call.id)
                started = self._lines.chains.get(agent or call.id)
                prompt = at(call.arguments, "prompt")
                waiting = prompts.get(prompt) if isinstance(prompt, str) else None
                if started is None and waiting:
                    started = waiting.popleft()
                if started is not None:
                    self._chain_of_call[call.id] = started

    def _confirm_calls(self) -> None:
        """Compare how many calls sub-agents made by their results with those in their chains, which may be missing."""
        stated: dict[int, int] = {}
        for call, made in self._lines.calls_stated.items():
            chain = id(self._chain_of_call.get(call))
            stated[chain] = stated.get(chain, 0) + made  # an agent that was resumed has several results
        chains = {id(chain): chain for chain in self._chain_of_call.values()}
        for chain, made in stated.items():
            events = chains[chain].events if chain in chains else []
            read = sum(len(event.calls) for event in events if isinstance(event, Reply))
            self._unmapped.stated.compare("sub-agent call", made, read)

    def _take_back(self) -> list[Usage | None]:
        """Leave out the branches that the user took back, with their sub-agents; their requests were paid for."""
        replies: list[Reply] = []
        waiting = [self._lines.left_behind]
        while waiting:
            taken_back = [event for event in waiting.pop().events if isinstance(event, Reply)]
            replies += taken_back
            started = (self._started_by(call) for reply in taken_back for call in reply.calls)
            for chain in (chain for chain in started if chain is not None):
                chain.is_written = True
                waiting.append(chain)
        self._unmapped.note("rewound", "branch", self._lines.branches_left)
        self._unmapped.note("rewound", "call", sum(len(reply.calls) for reply in replies))
        return [reply.usage for reply in replies]

    def _write(self, chain: Chain, agent: str) -> None:
        chain.is_written = True
        started = {id(inner) for inner in self._chain_of_call.values()}
        known = {call.id for reply in chain.events if isinstance(reply, Reply) for call in reply.calls if call.id}
        for event in chain.events:
            if isinstance(event, Reply):
                self._write_reply(event, agent)
            elif isinstance(event, Result):
                if event.call_id not in known:
                    self._transcript.observed(event)
            elif isinstance(event, Asked) and agent == self._main_agent:
                self._asked.append(event.text)
                self._transcript.asked(event)
            elif isinstance(event, Asked):
                self._transcript.said(Said(agent_id=self._main_agent, message=event.text, to=agent))
            elif id(event) not in started:
                self._hand_over(event, self._main_agent, _SUB_AGENT)

    def _write_reply(self, reply: Reply, agent: str) -> None:
        results = [self._lines.results.get(call.id or "") for call in reply.calls]
        started = [self._started_by(call) for call in reply.calls]
        said = _said(reply, agent)
        if not any(started):
            self._transcript.said(said, results)
            return
        words = replace(said, calls=())
        self._transcript.said(words)
        used = None if words.thought or words.message else reply.usage
        for call, chain, result in zip(reply.calls, started, results, strict=True):
            if chain is not None:
                self._hand_over(chain, agent, _kind_of(call))
            self._transcript.said(Said(agent_id=agent, calls=(call,), usage=used), [result])
            used = None

    def _started_by(self, call: Call) -> Chain | None:
        chain = self._chain_of_call.get(call.id or "")
        return None if chain is None or chain.is_written else chain

    def _hand_over(self, chain: Chain, agent: str, kind: str) -> None:
        """Write the chain of a sub-agent, starting with its prompt."""
        if chain.is_written:
            return
        name, number = kind, 2
        while name in self._agents:
            name, number = f"{kind} {number}", number + 1
        self._agents[name] = Agent(id=name, role=_SUB_AGENT, model=chain.model)
        if chain.prompt is not None:
            self._transcript.said(Said(agent_id=agent, message=chain.prompt, to=name))
        self._write(chain, name)


def _last_words(chain: Chain) -> str | None:
    replies = [event for event in chain.events if isinstance(event, Reply)]
    return last_words(_said(reply, NAME) for reply in replies)


def _said(reply: Reply, agent: str) -> Said:
    return Said(
        agent_id=agent,
        thought="\n\n".join(reply.thoughts) or None,
        message="\n\n".join(reply.texts) or None,
        calls=tuple(reply.calls),
        usage=reply.usage,
    )


def _kind_of(call: Call) -> str:
    """The type of sub-agent that a call starts."""
    return first_text(call.arguments, "subagent_type") or _SUB_AGENT


def _is_entry(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and record.get("type") in _ENTRIES
        and (_session_of(record) is not None or _is_unnamed(record))
        and any(name in record for name in ("uuid", "subtype", "cwd"))
        and "systemPayload" not in record  # lines of Qwen Code
        and "parts" not in object_in(record.get("message"))
    )


def _is_unnamed(record: Any) -> bool:
    """Whether a line has a session without an ID, or none, as lines have that were made anonymous."""
    is_of_none = _is_null(record) or (_session_of(record) is None and ("cwd" in record or "uuid" in record))
    return is_of_none and record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict)


def _is_null(record: Any) -> bool:
    """Whether the ID of a line's session is null, and not only missing."""
    names = [name for name in ("sessionId", "session_id") if name in object_in(record)]
    return bool(names) and all(record[name] is None for name in names)


def _session_of(record: Any) -> str | None:
    return first_text(record, "sessionId", "session_id")
