"""Count the fields of a source that no reader maps: JSON objects that track which of their fields were read.

A reader takes fields by expected type. A value of another type is treated as missing and counted. After a record is
read, every field that was not taken is counted under its path, so that no data is dropped silently.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import orjson

from evaluation_assets.core.traces.formats.outcome_words import outcome_of
from evaluation_assets.core.traces.formats.stated import OUTCOME, Comparisons
from evaluation_assets.core.traces.formats.unread_messages import is_message, unread_messages
from evaluation_assets.core.traces.formats.untyped import number_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.images import Images

Problem = Literal[
    "unknown_part",
    "no_content",
    "orphan_span",
    "orphan_session",
    "earlier_call",
    "failed_attempt",
    "rewound",
    "copied_history",
    "guessed_speaker",
    "twin_call",
    "repeated_record",
    "read_once",
    "same_run",
    "unfinished",
    "estimated_usage",
]
"""What casts doubt on a reading: a message part or event of a kind that no reader understands, a span of a model that
recorded no messages, a span or a session of a sub-agent whose parent is not in the drop, a call that a model was given
in its history and that no trajectory of the drop has, an attempt that failed and was repeated, a branch or call that
the user took back, the history of a session that is not in the drop, a name in a text that may be no speaker, an
evaluation that did not finish, tokens that the source only estimates, a run whose ID and start another file has with
other content. And what casts none: the second span of a call that two instrumentations recorded, a record or run that
stands twice in a drop, and the calls and results of such a run."""

_HUGE = 1 << 62
_SHORT = 2000
"""Maximum size in bytes of JSON of a source field that is kept as metadata, such as an id or a few settings."""


class UnmappedFields:
    """Counts of unmapped fields, spans and events by path, e.g. `messages[].refusal`; and the images of a drop."""

    def __init__(self) -> None:
        self.images = Images()
        self.counts: Counter[str] = Counter()
        self.notes: Counter[tuple[Problem, str]] = Counter()
        self.stated = Comparisons()

    def count(self, path: str, times: int = 1) -> None:
        """Count an unmapped path."""
        self.counts[path] += times

    def note(self, problem: Problem, what: str, times: int = 1) -> None:
        """Count something that casts doubt on the reading, e.g. `("unknown_part", "functionCall")`."""
        if times:
            self.notes[problem, what] += times

    def update(self, other: "UnmappedFields") -> None:
        """Add the counts of another instance."""
        self.counts.update(other.counts)
        self.notes.update(other.notes)
        self.stated.update(other.stated)

    @contextmanager
    def peeking(self, data: Mapping[str, Any]) -> Iterator["Fields"]:
        """The fields of an object of which little is wanted: what was not taken is not counted, what is odd is."""
        fields = Fields(data)
        yield fields
        self._take_notes(fields)

    @contextmanager
    def reading(self, data: Mapping[str, Any], path: str = "") -> Iterator["Fields"]:
        """The fields of one record; fields that were not taken are counted if the record was read without an error."""
        fields = Fields(data, path)
        yield fields
        self.counts.update(fields.paths())
        for place in fields.unread_messages():
            self.note("unknown_part", f"messages in {place}")
        self._take_notes(fields)

    def table(self) -> list[tuple[str, int]]:
        """Paths with their counts, most frequent first."""
        return sorted(self.counts.items(), key=lambda entry: (-entry[1], entry[0]))

    def _take_notes(self, fields: "Fields") -> None:
        self.notes.update({("unknown_part", kind): times for kind, times in fields.unknown_parts.items()})
        self.notes.update({("guessed_speaker", name): times for name, times in fields.speakers.items()})
        self.note("estimated_usage", "tokens", fields.estimates)
        self.stated.update(fields.stated)


@dataclass(slots=True)
class _Object:
    """A JSON object with its path, the fields that were taken, and the paths of those of a wrong type."""

    data: Mapping[str, Any]
    path: str
    taken: set[str] = field(default_factory=set)
    wrong: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Shared:
    """What the fields of one record have in common: its objects by the ID of their data, and what was noted.

    It holds no `Fields`, which refer to it: such cycles stay in memory until Python looks for them.
    """

    objects: dict[int, _Object] = field(default_factory=dict)
    unknown_parts: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    estimates: int = 0
    stated: Comparisons = field(default_factory=Comparisons)


class Fields:
    """The fields of a JSON object, taken by expected type. All `Fields` of an object know what any of them took."""

    def __init__(self, data: Mapping[str, Any], path: str = "", shared: _Shared | None = None) -> None:
        self._shared = _Shared() if shared is None else shared
        own = self._shared.objects.setdefault(id(data), _Object(data, path))
        self._data, self._path, self._taken, self._wrong = own.data, own.path, own.taken, own.wrong

    def __contains__(self, key: str) -> bool:
        """Whether the field is present and not null."""
        return self._data.get(key) is not None

    def is_object(self, key: str) -> bool:
        """Whether the field is an object, for fields with several representations."""
        return isinstance(self._data.get(key), dict)

    def is_text(self, key: str) -> bool:
        """Whether the field is a text."""
        return isinstance(self._data.get(key), str)

    def is_list(self, key: str) -> bool:
        """Whether the field is a list."""
        return isinstance(self._data.get(key), list)

    def is_flag(self, key: str) -> bool:
        """Whether the field is true or false."""
        return isinstance(self._data.get(key), bool)

    def text(self, *keys: str) -> str | None:
        """The first of these fields that is a text; blank text counts as missing."""
        return next((text for key in keys if (text := self._typed(key, str)) and text.strip()), None)

    def recorded_id(self, *keys: str) -> str | None:
        """The first of these fields that is a text or an integer, as text; an integer as `NumberId`."""
        for key in keys:
            value = self._take(key)
            if (name := recorded_id(value)) is not None:
                return name
            if value is not None and value != "":
                self._reject(key, value)
        return None

    def name(self, *keys: str) -> str | None:
        """Like `recorded_id`, as a plain text, for IDs that never differ only in their type."""
        name = self.recorded_id(*keys)
        return None if name is None else str(name)

    def number(self, *keys: str) -> float | None:
        """The first of these fields that is a finite number, or a text that contains one."""
        for key in keys:
            value = self._take(key)
            if (number := number_in(value)) is not None:
                return number
            if value is not None:
                self._reject(key, value)
        return None

    def amount(self, *keys: str) -> float | None:
        """Like `number`, but not negative: durations and costs."""
        amount = self.number(*keys)
        return None if amount is None or amount < 0 else amount

    def whole(self, *keys: str) -> int | None:
        """The first of these fields that is a number, as a 64-bit integer."""
        number = self.number(*keys)
        return None if number is None or abs(number) >= _HUGE else int(number)

    def flag(self, *keys: str) -> bool | None:
        """The first of these fields that is a boolean."""
        return next((flag for key in keys if (flag := self._typed(key, bool)) is not None), None)

    def outcome(self, *keys: str, also: bool | None = None) -> bool | None:
        """The first of these fields that says yes or no: a boolean, 0 or 1, or a word for these; else `also`.

        Those that differ are a contradiction.
        """
        outcomes: dict[str, bool] = {}
        for key in keys:
            value = self._take(key)
            if (outcome := outcome_of(value)) is not None:
                outcomes[key] = outcome
            elif value is not None:
                self._reject(key, value)
        fields = ", ".join((*(f"`{key}`" for key in outcomes), *(["another field"] if also is not None else [])))
        self.stated.agree(f"{OUTCOME} ({fields})", *outcomes.values(), also)
        return next(iter(outcomes.values()), also)

    def object(self, *keys: str) -> "Fields":
        """The first of these fields that is an object, or an empty one."""
        for key in keys:
            if (value := self._typed(key, dict)) is not None:
                return self._child(value, key)
        return Fields({})

    def objects(self, *keys: str) -> list["Fields"]:
        """The objects in the first of these fields that is a list; other items are counted."""
        for key in keys:
            items = self._typed(key, list)
            if items is None:
                continue
            strange = [item for item in items if not isinstance(item, dict) and item is not None]
            if strange:
                self._wrong[key] = [f"{self._path}{key}[]"] * len(strange)
                self._note_strange_between(items, strange)
            return [self._child(item, f"{key}[]") for item in items if isinstance(item, dict)]
        return []

    def items(self, *keys: str) -> list[Any]:
        """The first of these fields that is a list, unchanged."""
        return next((value for key in keys if (value := self._typed(key, list)) is not None), [])

    def parts(self, *keys: str) -> list["str | Fields"]:
        """The first of these fields with a value, a text, an object or a list, as a list of texts and objects."""
        for key in keys:
            value = self._take(key)
            if value is None:
                continue
            if isinstance(value, str):
                return [value]
            if isinstance(value, dict):
                return [self._child(value, key)]
            if isinstance(value, list):
                return self._parts_of(key, value)
            self._reject(key, value)
        return []

    def short(self, *keys: str) -> dict[str, Any]:
        """These fields with short values, unchanged; long values are not taken and are counted."""
        labels: dict[str, Any] = {}
        for key in keys:
            value = self._data.get(key)
            if _is_something(value) and _is_short(value):
                labels[key] = value
                self._taken.add(key)
        return labels

    def value(self, *keys: str) -> Any:
        """The first of these fields that is not null, unchanged."""
        return next((value for key in keys if (value := self._take(key)) is not None), None)

    def peek(self, key: str) -> Any:
        """The field unchanged, without taking it."""
        return self._data.get(key)

    def set_aside(self, *keys: str) -> None:
        """Mark fields as read that are redundant or meaningless outside their framework."""
        self._taken.update(keys)

    @property
    def unknown_parts(self) -> Counter[str]:
        """How often which kind of message part was not understood, here and in the objects taken from here."""
        return self._shared.unknown_parts

    @property
    def stated(self) -> Comparisons:
        """What the source states about itself, compared with what was read of it, here and in the whole record."""
        return self._shared.stated

    def note_unknown(self, kind: str | None = None) -> str:
        """Note that this message part is of a kind that no reader understands, and give the kind.

        Without a name, the kind is the first field that holds something.
        """
        kind = kind or next(self.filled(), "empty")
        self._shared.unknown_parts[kind] += 1
        return kind

    def ignore_unknown(self, kind: str | None = None) -> None:
        """Note that this is of a kind that no reader understands, and take all that remains of it."""
        self.note_unknown(kind)
        self.rest()

    def note_speaker(self, name: str) -> None:
        """Note that a role that is not known was read as the name of an agent."""
        self._shared.speakers[name] += 1

    @property
    def speakers(self) -> Counter[str]:
        """How often which role was read as a name, here and in the whole record."""
        return self._shared.speakers

    def note_estimate(self) -> None:
        """Note that the source only estimates the tokens of this request."""
        self._shared.estimates += 1

    @property
    def estimates(self) -> int:
        """Requests with estimated tokens, here and in the whole record."""
        return self._shared.estimates

    def filled(self) -> Iterator[str]:
        """The names of the fields that hold something."""
        yield from (key for key, value in self._data.items() if _is_something(value))

    def unread(self) -> list[str]:
        """The names of the fields with a value that were not taken."""
        return [key for key in self.filled() if key not in self._taken]

    def rest(self) -> dict[str, Any]:
        """Take all remaining fields with a value, unchanged."""
        rest = {key: self._data[key] for key in self.unread()}
        self._taken.update(rest)
        return rest

    def paths(self) -> Iterator[str]:
        """Paths of fields that were not taken or had the wrong type, including those of nested objects."""
        objects = self._shared.objects.values()
        yield from chain.from_iterable(paths for each in objects for paths in each.wrong.values())
        yield from (path for path, _ in self._not_taken())

    def unread_messages(self) -> Iterator[str]:
        """Paths of lists of messages that were not taken, here and in the whole record, with more than what was."""
        return unread_messages(self._not_taken(), (each.data for each in self._shared.objects.values()))

    def _not_taken(self) -> Iterator[tuple[str, Any]]:
        for each in self._shared.objects.values():
            for key, value in each.data.items():
                if key not in each.taken and _is_something(value):
                    yield f"{each.path}{key}", value

    def _parts_of(self, key: str, items: list[Any]) -> list["str | Fields"]:
        strange = [item for item in items if not isinstance(item, str | dict) and item is not None]
        self._wrong |= {key: [f"{self._path}{key}[] ({type_name(item)})" for item in strange]} if strange else {}
        parts = (item for item in items if isinstance(item, str | dict))
        return [item if isinstance(item, str) else self._child(item, f"{key}[]") for item in parts]

    def _note_strange_between(self, items: list[Any], strange: list[Any]) -> None:
        """Note the texts and lists in a list of messages: nobody knows who said them."""
        if any(map(is_message, items)):
            for item in strange:
                if isinstance(item, str | list) and _is_something(item):
                    self.note_unknown(f"{'text' if isinstance(item, str) else 'list'} between messages")

    def _child(self, data: dict[str, Any], key: str) -> "Fields":
        return Fields(data, f"{self._path}{key}.", self._shared)

    def _take(self, key: str) -> Any:
        self._taken.add(key)
        return self._data.get(key)

    def _typed(self, key: str, wanted: type) -> Any:
        value = self._take(key)
        if value is None or isinstance(value, wanted):
            return value
        self._reject(key, value)
        return None

    def _reject(self, key: str, value: Any) -> None:
        self._wrong[key] = [f"{self._path}{key} ({type_name(value)})"]


def ignore_rest(*objects: Fields) -> None:
    """Mark all that remains of these objects as read: it is redundant or meaningless outside their framework."""
    for fields in objects:
        fields.rest()


def type_name(value: Any) -> str:
    """The JSON type of a value, with its article."""
    names = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _is_something(value: Any) -> bool:
    return value is not None and value != "" and value != [] and value != {}


def _is_short(value: Any) -> bool:
    try:
        return len(orjson.dumps(value)) <= _SHORT
    except TypeError:  # nested too deeply to be stored
        return False
