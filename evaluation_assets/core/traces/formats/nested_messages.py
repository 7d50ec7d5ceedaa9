"""Runs or messages of a supported format in records of an own form: under another name, deeper, or in a list of runs.

    {"config": {"model": "model-a"}, "results": [{"task_id": "order-7", "passed": true, "chat_log": [...]}]}

What stands beside the messages is what is known of their run; objects above a list of runs say which model they used.
A record with several conversations that may belong together, as those of the agents of one run, is not understood.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from upath import UPath

from evaluation_assets.core.traces.formats.base import (
    DropFile,
    Format,
    Record,
    RecordWatch,
    Rejection,
    Sample,
    UnusableRecord,
)
from evaluation_assets.core.traces.formats.context import OUTCOMES, TASK_IDS
from evaluation_assets.core.traces.formats.conversation import goes_on, joined
from evaluation_assets.core.traces.formats.envelopes.envelope import Envelope
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.isolation import each_own_file
from evaluation_assets.core.traces.formats.messages.after_history import is_history, next_turn
from evaluation_assets.core.traces.formats.messages.asked_beside import with_given
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.message_lists import LISTS
from evaluation_assets.core.traces.formats.messages.named_speakers import (
    SPEAKERS,
    have_agent,
    may_be_letter,
    speaker_of,
)
from evaluation_assets.core.traces.formats.messages.own_counts import confirm_runs
from evaluation_assets.core.traces.formats.messages.several_runs import runs_in
from evaluation_assets.core.traces.formats.messages.typed_events import are_events, is_known
from evaluation_assets.core.traces.formats.mixed_records import CONVERSATIONS, WHOLE_DOCUMENTS, Aside
from evaluation_assets.core.traces.formats.nested_streams import NestedStreams
from evaluation_assets.core.traces.formats.run_names import parent_of, run_of, runs_with_roots
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, list_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "nested_messages"

_DEEPEST = 5
_STEPS, _EVENTS = "steps", "\0events"
"""The field of a run with the events of a log, which no source has."""
_FIELDS = {"openai_responses": "items"}
"""Where records of a format have their messages, if not in `messages`."""
_NO_RUN = re.compile(
    "example|shot|demo|expect|refer|gold|truth|initial|template|chosen|reject|prompt|(?<!user_)input|context|tool|schema",
    re.I,
)
"""Names of messages that were not exchanged in the run, or that it began with."""
_PARTS = re.compile(
    "step|turn|round|iteration|request|call|generation|span|node|message|event|agent|branch|candidate|phase"
    "|raw_?response",
    re.I,
)
"""Names of lists whose items may be parts of one run."""
_RUNS = re.compile("result|run|traject|conversation|session|task|case|sample|episode|eval|rollout|chat|trial", re.I)
"""Names of objects whose fields may be runs, by their tasks."""
_TRIALS = re.compile("attempt|trial|tries|retr|rollout|repeat", re.I)
"""Names of lists whose items are runs of one task, which the object above them names."""
_TASKS = ("task_id", "taskId", "task", "question", "query", "instruction", "problem")
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_SETTINGS = ("config", "metadata", "meta", "info", "settings", "args", "run_metadata")
_MODELS = ("model", "model_name", "model_id")


class _Found(list[tuple[str, JsonObject]]):
    """Runs: the format of the messages of each, and a record with them. `are_several` if they stand in a list, where
    `missing` others have no messages, or `by_key`, as fields of an object. `left` are fields above them that say
    nothing of each.
    """

    def __init__(
        self,
        runs: Sequence[tuple[str, JsonObject]] = (),
        *,
        are_several: bool = False,
        by_key: bool = False,
        missing: int = 0,
        left: Sequence[str] = (),
    ) -> None:
        super().__init__(runs)
        self.are_several, self.by_key = are_several, by_key
        self.missing, self.left = missing, left

    def beside(self, known: JsonObject, left: Sequence[str] = ()) -> "_Found":
        """These runs, with what is also known of each, and the names of what else stands above them."""
        runs = [(kind, {**known, **run}) for kind, run in self]
        return _Found(runs, are_several=self.are_several, missing=self.missing, left=(*self.left, *left))

    def of_task(self, task_id: Any) -> "_Found":
        """These runs as trials of one task, which the keys they had number."""
        if not self.by_key:
            return self
        keys = [str(run["task_id"]) for _, run in self]
        trials = [int(key) if key.isdecimal() else number for number, key in enumerate(keys)]
        runs = [
            (kind, {**run, "task_id": task_id, "trial": trial}) for (kind, run), trial in zip(self, trials, strict=True)
        ]
        return _Found(runs, are_several=True, missing=self.missing, left=self.left)


class NestedMessages:
    """The format of records that hold messages in the form of one of the given formats.

    A record inside that holds no messages may hold actions: `steps` is the format of such records.
    """

    def __init__(self, formats: Mapping[str, Format], steps: Envelope) -> None:
        self._conversations = {name: known for name, known in formats.items() if name in CONVERSATIONS}
        self._steps = steps
        self._runs = {name: known for name, known in formats.items() if name not in CONVERSATIONS}
        self._records = {**self._runs, **self._conversations}
        self._formats = {**self._records, steps.name: steps.format()}
        self._streams = NestedStreams(formats)

    def format(self) -> Format:
        """This format."""
        return Format(
            NAME,
            "runs or messages of a supported format in records of an own form, such as results with a list of runs",
            "one list of messages in a record, under any name, or one in each run of a list",
            self._detect,
            self._read,
        )

    def _detect(self, sample: Sample) -> bool:
        return self._are_parts(sample.records) or any(map(self._holds, sample.records))

    def _read(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        asides: dict[str, Aside] = {}
        with TemporaryDirectory() as folder:
            for record in each_own_file(files, self._detect, NAME, self._records_of):
                if isinstance(record, Rejection):
                    yield record
                    continue
                runs = self._runs_in(record.data)
                if not runs:
                    problem = "the record has no list of messages, or several that may belong to one run"
                    yield record.rejected(UnusableRecord("no_trajectory_text", problem))
                elif runs.are_several:
                    tasks = {str(task) for _, run in runs if (task := run.get("task_id") or run.get("task"))}
                    confirm_runs(unmapped.stated, record.data, len(runs), len(tasks) or len(runs))
                    unmapped.stated.compare("run", len(runs) + runs.missing, len(runs))
                    for name in runs.left:
                        unmapped.count(name)
                for kind, run in runs:
                    if (events := run.pop(_EVENTS, None)) is not None:
                        yield from self._streams.read(kind, record, events, run, unmapped)
                        continue
                    aside = asides.setdefault(kind, Aside(Path(folder) / f"{kind}.jsonl"))
                    aside.add_from(record, as_line(run), is_whole=len(runs) == 1)
            for kind, aside in asides.items():
                file = DropFile(UPath(aside.path), aside.places[0][0].file, RecordWatch(images=unmapped.images))
                for item in map(aside.placed, self._formats[kind].read([file], unmapped)):
                    is_named = isinstance(item, Rejection) or kind in self._runs
                    yield item if is_named else dataclasses.replace(item, format=NAME)

    def _holds(self, data: Any) -> bool:
        """Whether a record has runs in it, and is none itself."""
        runs = self._runs_in(data)
        return bool(runs) and not (runs[0][0] == self._steps.name and self._steps.holds(data))

    def _runs_in(self, data: Any) -> _Found:
        return self._of_object(data, "", _DEEPEST) if isinstance(data, dict) else _Found()

    def _inside(self, value: Any, name: str, depth: int) -> _Found:
        if depth == 0:
            return _Found()
        if isinstance(value, dict):
            kind = self._kind_of_record(value)
            if kind is None:
                return self._of_object(value, name, depth)
            return _Found() if kind in WHOLE_DOCUMENTS else _Found([(kind, value)])
        if (stream := self._streams.found_in(value)) is not None:
            return _Found([(stream[0], {_EVENTS: stream[1]})])
        messages = _unwrapped(list_in(value))
        if (kind := self._kind_of(messages)) is not None:
            if rows := runs_in(messages):
                runs = [(kind, {"id": name, _FIELDS.get(kind, "messages"): run}) for name, run in rows]
                return _Found(runs, are_several=True)
            return _Found([(kind, {_FIELDS.get(kind, "messages"): messages})])
        if _PARTS.search(name):
            return _Found()
        items = [self._inside(item, name, depth - 1) for item in messages if isinstance(item, dict | list)]
        runs = [run for found in items for run in found]
        missing = sum(found.missing or not found for found in items)
        kept = _without_beginnings(runs)
        return _Found(kept, are_several=not len(kept) == 1 < len(runs), missing=missing)

    def _of_object(self, data: JsonObject, name: str, depth: int) -> _Found:
        found = {
            key: runs
            for key, value in data.items()
            if not _NO_RUN.search(key) and (runs := self._inside(decoded(value), key, depth - 1))
        }
        if not found and self._steps.holds(data):
            return _Found([(self._steps.name, data)])
        is_map = len(found) > 1 and all(any(map(str.isdigit, key)) for key in found)
        if len(found) > 1 and not is_map:
            found = _preferred(found)
        if len(found) == 1:
            ((key, runs),) = found.items()
            if runs.are_several:
                return _below(runs, data, key)
            kind, run = runs[0]
            is_chat = is_history(key) and _EVENTS not in run
            turn, used = next_turn(list_in(run.get("messages")), data) if is_chat else ([], ())
            run = {**run, "messages": [*run["messages"], *turn]} if turn else run
            run, given = _after_given(run, data)
            return _Found([(kind, {**_without(data, key, *used, *given), **run})])
        if not (is_map or _RUNS.search(name) or (not name and _have_outcomes(data, found))):
            return _Found()
        tasks = [run for key, runs in found.items() for run in runs.beside({"task_id": key})]
        missing = sum(runs.missing for runs in found.values())
        if is_map:
            missing += sum(isinstance(data[key], dict) and any(map(str.isdigit, key)) for key in data.keys() - found)
        others = [key for key in data if key not in found]
        return _Found(tasks, are_several=True, by_key=True, missing=missing, left=others)

    def _kind_of_record(self, data: JsonObject) -> str | None:
        """The format of which an object is a record by itself. A message is none, although it may be a line."""
        if any(map(may_be_letter, objects_in(data.get("messages")))):
            return None
        sample, formats = Sample((data,)), self._runs if role_of(data) or speaker_of(data) else self._records
        return next((name for name, known in formats.items() if known.detect(sample)), None)

    def _kind_of(self, messages: Sequence[Any]) -> str | None:
        """The format of a list of messages with one of an agent among them."""
        if not have_agent(messages):
            return None
        if are_events(messages) or (not any(map(role_of, messages)) and self._steps.holds({_STEPS: messages})):
            return None
        samples = {field: Sample(({field: messages},)) for field in ("messages", *_FIELDS.values())}
        named = ((name, _FIELDS.get(name, "messages"), known) for name, known in self._conversations.items())
        return next((name for name, field, known in named if known.detect(samples[field])), None)

    def _are_parts(self, records: Sequence[Any]) -> bool:
        """Whether records are the events of runs, or have an event or a message of one inside each."""
        is_told = are_events(records) or _unwrapped(records) is not records
        return is_told or self._streams.wrapped_in(records) is not None

    def _records_of(self, file: DropFile) -> Iterator[Record | Rejection]:
        return _records(file, are_parts=self._are_parts(sample_of(file).records))


def _records(file: DropFile, *, are_parts: bool) -> Iterator[Record | Rejection]:
    """The records of a file; events of a run, each a record of its own, as one with all events of their session."""
    if not are_parts:
        yield from read_records(file)
        return
    sessions: dict[str | None, list[Record]] = {}
    parents: dict[str | None, str | None] = {}
    saying: set[str | None] = set()
    for record in read_records(file):
        if isinstance(record, Rejection):
            yield record
        else:
            session = run_of(record.data)
            saying |= {session} if is_known(record.data) else set()
            sessions.setdefault(session, []).append(record)
            parents[session] = parents.get(session) or parent_of(record.data)
    for session, root in runs_with_roots(parents).items():
        if session != root:
            sessions[root] = sorted([*sessions[root], *sessions.pop(session)], key=lambda record: record.line)
    if saying <= {None} and None in sessions:
        first = next((session for session in sessions if session is not None), None)
        sessions = {first: sorted(chain.from_iterable(sessions.values()), key=lambda record: record.line)}
    for session, events in sessions.items():
        whole = joined(events)
        data = {"session_id": session, "events": [event for event in whole.data if isinstance(event, dict)]}
        yield dataclasses.replace(whole, data=data)


def _unwrapped(messages: Sequence[Any]) -> Sequence[Any]:
    """Messages that each stand in an event, as of the Claude Agent SDK, which has an answer block by block.

    The agent that says one may stand beside it, and so may its tokens.
    """
    inner = [at(message, "message") for message in messages]
    if not inner or any(at(message, "role") is None for message in inner):
        return messages
    joined: list[JsonObject] = []
    for event, message in zip(messages, inner, strict=True):
        before = joined[-1] if joined else {}
        if message.get("id") is not None and message["id"] == before.get("id"):
            joined[-1] = {**message, "content": [*list_in(before.get("content")), *list_in(message.get("content"))]}
            continue
        said = role_of(message) == "assistant"
        about = {"name": first_text(event, *SPEAKERS), "usage": event.get("usage")} if said else {}
        joined.append({**without_none(about), **message})
    return joined


def _messages_of(run: JsonObject) -> list[Any]:
    """The messages of a run; none of one with actions instead."""
    fields = ("messages", *_FIELDS.values())
    return next((value for field in fields if isinstance(value := run.get(field), list)), [])


def _have_outcomes(data: JsonObject, found: dict[str, _Found]) -> bool:
    """Whether all fields of a record are runs with an outcome each, by the names of their tasks, which differ."""
    runs = [run for each in found.values() for _, run in each]
    tasks = {as_line([one for one in _messages_of(run) if role_of(one) == "user"][:1]) for run in runs}
    return found.keys() == data.keys() and len(tasks) == len(runs) and all(OUTCOMES & run.keys() for run in runs)


def _without_beginnings(runs: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """The runs without those that the next one goes on with."""
    beginnings = [goes_on(_messages_of(one[1]), _messages_of(after[1])) for one, after in pairwise(runs)]
    return [run for run, is_beginning in zip(runs, [*beginnings, False], strict=False) if not is_beginning]


def _preferred(found: dict[str, _Found]) -> dict[str, _Found]:
    """Of several conversations in one object that under a usual name, and of two that are alike the longer one."""
    if (key := next((key for key in LISTS if key in found), None)) is not None:
        return {key: found[key]}
    longest = max(found, key=lambda key: len(_messages_of(found[key][0][1])))
    is_one = bool(_messages_of(found[longest][0][1])) and all(
        not runs.are_several and _is_beginning(runs[0][1], found[longest][0][1]) for runs in found.values()
    )
    return {longest: found[longest]} if is_one else found


def _is_beginning(run: JsonObject, longest: JsonObject) -> bool:
    """Whether another run has all messages of a run, and says nothing else of itself."""
    messages, whole = _messages_of(run), _messages_of(longest)
    others = (key for key, value in run.items() if value is not messages and key in longest)
    return messages == whole[: len(messages)] and all(run[key] == longest[key] for key in others)


def _after_given(run: JsonObject, beside: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """A run that only has what was said, with the messages that were given; and the field of these."""
    said = _messages_of(run)
    messages, used = with_given(beside, said)
    return {key: messages if value is said else value for key, value in run.items()}, used


def _below(runs: _Found, data: JsonObject, key: str) -> _Found:
    """Several runs under a key of an object, with what the object says of each: model, what was given to it, and the
    task that it names, or that its messages do not tell.

    So is the outcome, if none of the runs has one; a number may count them. Of attempts, one of which may have
    succeeded, it is not.
    """
    known, task_id = _model_in(data), next((data[name] for name in TASK_IDS if recorded_id(data.get(name))), None)
    answered = [(kind, *_after_given(run, data)) for kind, run in runs]
    given = {name for _, _, used in answered for name in used}
    runs[:] = ((kind, run) for kind, run, _ in answered)
    if task_id is not None or _TRIALS.search(key) or not any(_tells_task(run) for _, run in runs):
        known |= _task_in(data)
    if task_id is not None:
        runs, known = runs.of_task(task_id), {**known, "task_id": task_id}
        outcomes = {
            name: data[name]
            for name in OUTCOMES & data.keys()
            if isinstance(data[name], bool | str) or "reward" in name.lower()
        }
        if not _TRIALS.search(key) and not any(OUTCOMES & run.keys() for _, run in runs):
            known |= outcomes
    taken = (key, *given, *known, *TASK_IDS, *_SETTINGS) if known else (key, *given)
    return runs.beside(known, [name for name, value in data.items() if name not in taken and value not in _NOTHING])


def _tells_task(run: JsonObject) -> bool:
    return bool(run.keys() & {*_TASKS, _EVENTS}) or any(role_of(one) == "user" for one in _messages_of(run))


def _model_in(data: JsonObject) -> JsonObject:
    """The model that an object above several runs names."""
    holders = (data, *(at(data, key) for key in _SETTINGS))
    model = next((model for holder in holders if (model := first_text(holder, *_MODELS))), None)
    return {} if model is None else {"model": model}


def _task_in(data: JsonObject) -> JsonObject:
    """The task that an object above several runs of it names."""
    return without_none({key: data.get(key) for key in _TASKS})


def _without(data: JsonObject, *keys: str) -> JsonObject:
    return {name: value for name, value in data.items() if name not in keys}
