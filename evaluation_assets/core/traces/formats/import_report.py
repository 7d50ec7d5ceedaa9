"""The import report: what was read of a drop, and whether the reading can be trusted."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, computed_field

from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.base import DropFile, Format, Record, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.call_census import census_of
from evaluation_assets.core.traces.formats.calls_in_source import InSource
from evaluation_assets.core.traces.formats.final_answers import hands_in
from evaluation_assets.core.traces.formats.registry import format_of, looks_like, read_by
from evaluation_assets.core.traces.formats.repeated_beginnings import Beginnings
from evaluation_assets.core.traces.formats.repeated_records import TRIALS
from evaluation_assets.core.traces.formats.stated import Difference
from evaluation_assets.core.traces.formats.unmapped_fields import Problem, UnmappedFields
from evaluation_assets.core.traces.trajectories.calls import call_key
from evaluation_assets.core.traces.trajectories.model import TWO_OUTCOMES, Trajectory, arguments_in

Trust = Literal["complete", "partial", "doubtful"]

_WRITTEN_CALL = re.compile(
    r"^[ \t]*(?:Action:[ \t]*\S[^\n]*\n+[ \t]*Action Input:|Act(?:ion)?:[ \t]*\S[^\n]*\n+```"
    r"|Action(?: \d+)?:[ \t]*\w+[\[(]|<action>|<\|python_tag\|>|\[TOOL_CALLS\]|<function_calls>|<invoke name=)"
    r'|"action_input"[ \t]*:|"tool_calls"[ \t]*:[ \t]*\[\s*\{'
    r"|<[｜|]tool[▁_]call[▁_]begin[｜|]>|<\|channel\|>commentary to="
    r"|^</message>\n<user>\n\s*(?:(?i:observation|(?:execution|tool|function|command) (?:result|output|response)s?)\b"
    r"|The output of the OS|exitcode: -?\d+ \(execution |Result of \w+\("
    r"|(?i:(?:result|output)s?):"
    r"|<(?:information|observation|function_results|tool_response|output|result)>)",
    re.MULTILINE,
)
"""Calls that agents write into their texts, in the ways of frameworks and models, and results as messages of users."""

_CALL_FIELD = re.compile(
    r"(?:tool|function)_?(?:calls?|uses?|inputs?|outputs?|results?|names?|events?|invocations?)|observations?|action_?inputs?"
    r"|tools_?(?:used|called)|(?:executed_?)?actions",
    re.IGNORECASE,
)
"""Names of fields that tell of calls."""
_CALL_LINE = re.compile(r"lines\[\] \((?:tool|function)(?:_(?:call|use|result|output|response))?\)")
"""The path of lines that are calls or results, by a type that the log which they are in does not have."""

_RUNS_NAMED = 10
_DEMANDED = "--format, or the line `format: {}` of the drop's sidecar (NAME.drop.yaml, or _drop.yaml in a folder),"
_KINDS_NAMED = 5
"""Kinds of message parts that a sentence names."""
_UNNAMED = "unnamed"
"""What readers call a tool without a name."""


_WITH_ROLES = "record messages with the roles user, assistant and tool"
_ONLY_THE_LAST = "keep only the last record of a conversation"
_AS_MESSAGES = "(such as `Action:`, `tools_used`); record them as messages with tool calls"
_CAPTURE = "enable message content in the instrumentation"
_ALL_FILES = "evaluate all files of a session as one drop"
_ALL_TRACES = "evaluate all traces of a conversation as one drop"
_ONLY_THE_END = "of which the log keeps only the last request"
_BOTH = "evaluate both as one drop"
"""What to do about a doubt or a gap."""


class ImportSummary(BaseModel):
    """Counts over a drop. Token counts and cost are sums over the trajectories that have them, `None` where none has;
    `counted` have both counts, `priced` a cost.

    `calls_in_source` and `results_in_source` count calls and results by their shape, without the reader (lower bounds);
    `rejected_calls` and `rejected_results` are those in rejected records. `unanswered_calls` have no result, calls that
    hand in the answer and a last call not counted. `stray_results` answer no call. `repeated_calls` have the id, tool
    and arguments of an earlier call of their trajectory, `unnamed_calls` no name of a tool. `repeated_beginnings` are
    trajectories that begin with all of another one, or are such a beginning. `earlier_calls` are in the history of a
    trace whose earlier traces are not in the drop. `unknown_parts` are kinds of message parts or events that no reader
    understands. `calls_as_text` are trajectories without calls whose text or fields name some. `guessed_speakers` are
    names in texts, and roles of messages, that may be something else. `spans_without_content` are spans of models or
    tools that recorded no messages, `content_settings`
    would make their instrumentations record them. `orphan_spans` and `orphan_sessions`, of sub-agents, have a parent
    that is not in the drop. `failed_attempts` were repeated by the source, which keeps only their ends.
    `rewound_branches`, with their calls, were taken back by the user. `copied_histories` are sessions that begin with
    the calls and tokens of a session that is not in the drop. `is_list_price`: the cost has list prices of requests
    without a recorded one. `differences` are totals that the source states and the reading does not confirm.
    `idle` are trajectories without a step and an outcome, as of prompts alone.
    `unfinished` are evaluations that their source ended early, `estimated_usages` requests whose tokens it estimated,
    or counted at their start only.
    `contradictions` are statements of the source that cannot all be true, by what they are about. `repeated_records`
    stand twice in the drop, with an identity of their own, and were read once; so were `calls_read_once` and
    `results_read_once` of runs. `same_runs` are the files that have a run of one ID and start with different content.
    `counted_as` are the runs with two outcomes, by the one that counts.
    `forced_format` is the format that the files were read in although none of them looks like it.
    """

    model_config = ConfigDict(frozen=True)

    trajectories: int = 0
    rejected: int = 0
    turns: int = 0
    calls: int = 0
    calls_in_source: int = 0
    rejected_calls: int = 0
    results: int = 0
    results_in_source: int = 0
    rejected_results: int = 0
    unanswered_calls: int = 0
    stray_results: int = 0
    repeated_calls: int = 0
    unnamed_calls: int = 0
    earlier_calls: int = 0
    repeated_beginnings: int = 0
    idle: int = 0
    calls_as_text: int = 0
    guessed_speakers: tuple[str, ...] = ()
    unknown_parts: Mapping[str, int] = {}
    spans_without_content: int = 0
    content_settings: tuple[str, ...] = ()
    orphan_spans: int = 0
    orphan_sessions: int = 0
    failed_attempts: int = 0
    rewound_branches: int = 0
    rewound_calls: int = 0
    copied_histories: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    counted: int = 0
    cost_usd: float | None = None
    priced: int = 0
    differences: tuple[Difference, ...] = ()
    unfinished: int = 0
    estimated_usages: int = 0
    contradictions: Mapping[str, int] = {}
    counted_as: Mapping[str, Sequence[str]] = {}
    repeated_records: int = 0
    calls_read_once: int = 0
    results_read_once: int = 0
    same_runs: Mapping[str, int] = {}
    is_list_price: bool = False
    forced_format: str | None = None

    @property
    def calls_not_read(self) -> int:
        """Calls that the source holds and no trajectory does, at least."""
        elsewhere = self.rejected_calls + self.earlier_calls + self.rewound_calls + self.calls_read_once
        return max(0, self.calls_in_source - elsewhere - self.calls)

    @property
    def results_not_read(self) -> int:
        """Results that the source holds and no trajectory does, at least."""
        elsewhere = self.rejected_results + self.earlier_calls + self.rewound_calls + self.results_read_once
        return max(0, self.results_in_source - elsewhere - self.results)

    @computed_field
    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the reading may be wrong, a sentence each."""
        kinds = ", ".join(sorted(self.unknown_parts, key=lambda kind: -self.unknown_parts[kind])[:_KINDS_NAMED])
        unknown = sum(self.unknown_parts.values())
        names = ", ".join(self.guessed_speakers[:_KINDS_NAMED])
        forced = self.forced_format
        sentences = _sentences(
            (bool(forced), "", f"no file looks like {forced}, which {_DEMANDED.format(forced)} demands"),
            (self.calls_not_read, "call", "in the source could not be read"),
            (self.results_not_read, "result", "in the source could not be read"),
            (unknown, "part", f"of messages could not be read: {kinds}"),
            (bool(self.guessed_speakers), "", f"speakers were guessed: {names}; {_WITH_ROLES}"),
            (self.unnamed_calls, "call", "whose tool has no name"),
            (self.repeated_calls, "repeated call", "with the ID of an earlier one"),
            (self.repeated_beginnings, "trajectory", f"with the beginning of another one; {_ONLY_THE_LAST}"),
            (sum(self.same_runs.values()), "run", f"that differs between {first_of([*self.same_runs], _KINDS_NAMED)}"),
            (self.calls_as_text, "trajectory", f"without calls, whose text or fields name some {_AS_MESSAGES}"),
            (
                self.stray_results > self.calls,
                "",
                f"more results without a call ({self.stray_results:,}) than calls ({self.calls:,})",
            ),
        )
        disputed = (
            f"{counted(times, 'contradiction')} in what the source states: {what}"
            for what, times in self.contradictions.items()
        )
        named = (f"counted as {outcome}: {first_of(runs, _RUNS_NAMED)}" for outcome, runs in self.counted_as.items())
        more = (each.sentence for each in self.differences if each.read > each.stated)
        return (*sentences, *disputed, *named, *more)

    @computed_field
    @property
    def gaps(self) -> tuple[str, ...]:
        """What the source itself lacks, a sentence each."""
        settings = f"set {', '.join(self.content_settings)}" if self.content_settings else _CAPTURE
        sentences = _sentences(
            (self.rejected, "record", "rejected"),
            (self.spans_without_content, "span", f"without messages; {settings}"),
            (self.orphan_spans, "span", "with a missing parent; evaluate all files of a trace as one drop"),
            (self.orphan_sessions, "session", f"of a sub-agent without the one that started it; {_ALL_FILES}"),
            (self.earlier_calls, "call", f"of earlier turns, read as context; {_ALL_TRACES}"),
            (self.failed_attempts, "failed attempt", f"before the last one, {_ONLY_THE_END}"),
            (self.rewound_branches, "rewind", f"by the user, with {counted(self.rewound_calls, 'call')}, left out"),
            (self.copied_histories, "session", f"with the calls and tokens of the one it was forked from; {_BOTH}"),
            (self.unfinished, "evaluation", "that did not finish"),
            (self.idle, "run", "in which no agent acted, without an outcome"),
            (self.estimated_usages, "request", "with estimated tokens"),
            (self.unanswered_calls, "call", "without a result"),
        )
        less = (each.sentence for each in self.differences if each.read < each.stated)
        return (*sentences, *less)

    @computed_field
    @property
    def trust(self) -> Trust:
        """`doubtful` where the reading may be wrong, `partial` where the source has gaps, else `complete`."""
        return "doubtful" if self.doubts else "partial" if self.gaps else "complete"

    @property
    def sentence(self) -> str:
        """The trust, the reasons for less than `complete`, and what was read once though it stands twice."""
        reasons = ": ".join(filter(None, (self.trust, "; ".join((*self.doubts, *self.gaps)))))
        if not self.repeated_records:
            return reasons
        return f"{reasons} ({counted(self.repeated_records, 'repeated record')} read once)"


def _sentences(*found: tuple[int, str, str]) -> tuple[str, ...]:
    """What was found, a sentence each: the count with its noun, if it has one, and what is said of it."""
    return tuple(f"{counted(count, noun)} {said}" if noun else said for count, noun, said in found if count)


def _tells_of_calls(path: str) -> bool:
    """Whether a field that was not read may have calls, by its name."""
    return _CALL_FIELD.fullmatch(path.partition(" (")[0].rpartition(".")[2].removesuffix("[]")) is not None


def _counts_of(trajectory: Trajectory) -> dict[str, int]:
    """What is counted of one trajectory; see `ImportSummary`."""
    steps = list(trajectory.steps)
    made = [(step, step.call) for step in steps if step.call is not None]
    identified = Counter((call.id, call_key(trajectory, step)) for step, call in made if call.id)
    unnamed = [trajectory.piece(call.raw) for _, call in made if call.name in ("", _UNNAMED)]
    return {
        "trajectories": 1,
        "turns": len(trajectory.turns),
        "idle": not steps and trajectory.success is None and not set(trajectory.flags) - {"no_answer"},
        "calls": len(made),
        "results": sum(step.result is not None for step in steps),
        "unanswered_calls": sum(
            step.result is None and step.call is not None and not hands_in(step.call.name) for step in steps[:-1]
        ),
        "stray_results": sum(step.call is None and step.result is not None for step in steps),
        "repeated_calls": sum(times - 1 for times in identified.values()),
        # Without arguments that can be understood, the agent wrote no call.
        "unnamed_calls": sum(arguments_in(raw) is not None for raw in unnamed),
    }


@dataclass(slots=True)
class ImportReport:
    """Counts while a drop is read, and gives the summary afterwards."""

    unmapped: UnmappedFields = field(default_factory=UnmappedFields)
    formats: Counter[str] = field(default_factory=Counter)
    _counts: Counter[str] = field(default_factory=Counter)
    _tokens: list[tuple[int | None, int | None, float | None, bool]] = field(default_factory=list)
    _calls: InSource = field(default_factory=InSource)
    _results: InSource = field(default_factory=InSource)
    _records: int = 0
    _tool_spans: set[str] = field(default_factory=set)
    _beginnings: Beginnings = field(default_factory=Beginnings)
    _counted_as: dict[str, list[str]] = field(default_factory=dict)
    _forced_format: str | None = None
    _lists_tools: bool = False
    _names_trial: bool = False

    def read(self, chosen: Format, files: Sequence[DropFile]) -> Iterator[Trajectory | Rejection]:
        """The trajectories and rejections of a drop, by a format's reader, counted on their way.

        Raises:
            UnreadableDrop: a file turns out damaged half way.
        """
        self._forced_format = None if looks_like(chosen, files) else chosen.name
        is_forced = self._forced_format is not None
        for item in read_by(chosen, files, self.unmapped, self._handed, is_forced=is_forced):
            if isinstance(item, Rejection):
                self._rejected(item)
            else:
                self._add(item)
            yield item

    @property
    def summary(self) -> ImportSummary:
        """What was read so far."""
        notes = self.unmapped.notes

        def noted(problem: Problem) -> int:
            return sum(count for (kind, _), count in notes.items() if kind == problem)

        counts = dict(self._counts)
        if not self._counts["calls"] and any(map(_tells_of_calls, self.unmapped.counts)):
            counts["calls_as_text"] = self._counts["trajectories"]
        is_by_record = self._records <= self._counts["trajectories"] + self._counts["rejected"]
        inputs, outputs, costs, priced = zip(*self._tokens, strict=True) if self._tokens else ((), (), (), ())
        return ImportSummary(
            **counts,
            calls_in_source=max(self._calls.times(is_by_record), len(self._tool_spans) - noted("twin_call")),
            results_in_source=self._results.times(is_by_record),
            unknown_parts={what: count for (kind, what), count in notes.items() if kind == "unknown_part"}
            | {path: count for path, count in self.unmapped.counts.items() if _CALL_LINE.fullmatch(path)},
            guessed_speakers=tuple(sorted(what for kind, what in notes if kind == "guessed_speaker")),
            spans_without_content=noted("no_content"),
            content_settings=tuple(sorted(what for kind, what in notes if kind == "no_content" and what)),
            orphan_spans=noted("orphan_span"),
            orphan_sessions=noted("orphan_session"),
            earlier_calls=noted("earlier_call"),
            failed_attempts=noted("failed_attempt"),
            rewound_branches=notes["rewound", "branch"],
            rewound_calls=notes["rewound", "call"],
            copied_histories=noted("copied_history"),
            differences=tuple(self.unmapped.stated),
            contradictions={what: times for what, times in self.unmapped.stated.contradictions.items() if times},
            counted_as=self._counted_as,
            unfinished=noted("unfinished"),
            estimated_usages=noted("estimated_usage"),
            repeated_records=noted("repeated_record"),
            calls_read_once=notes["read_once", "call"],
            results_read_once=notes["read_once", "result"],
            same_runs={files: count for (kind, files), count in notes.items() if kind == "same_run"},
            input_tokens=sum_of(inputs),
            output_tokens=sum_of(outputs),
            counted=sum(None not in counts for counts in zip(inputs, outputs, strict=True)),
            cost_usd=sum_of(costs),
            priced=sum(cost is not None for cost in costs),
            is_list_price=any(priced),
            forced_format=self._forced_format,
        )

    def _handed(self, record: Record) -> None:
        """Count the calls that a record seems to hold."""
        data = record.data if isinstance(record.data, dict | list) else orjson.loads(record.raw)
        self._lists_tools = isinstance(data, dict) and bool(data.get("tools_used"))
        stated = [data, data.get("metadata")] if isinstance(data, dict) else []
        self._names_trial = any(isinstance(fields, dict) and not fields.keys().isdisjoint(TRIALS) for fields in stated)
        census = census_of(data)
        self._records += 1
        self._calls.add(census.calls, census.told_calls)
        self._results.add(census.results, census.told_results)
        self._tool_spans |= census.tool_spans

    def _rejected(self, rejection: Rejection) -> None:
        self._counts["rejected"] += 1
        try:
            data = orjson.loads(rejection.raw)
        except orjson.JSONDecodeError:
            return
        census = census_of(data)
        self._counts["rejected_calls"] += self._calls.known(census.calls)
        self._counts["rejected_results"] += self._results.known(census.results)

    def _add(self, trajectory: Trajectory) -> None:
        self._calls.conversation_ended()
        self._results.conversation_ended()
        counts = _counts_of(trajectory)
        self.formats[trajectory.format] += 1
        if TWO_OUTCOMES in trajectory.flags and trajectory.success is not None:
            self._counted_as.setdefault("success" if trajectory.success else "failure", []).append(trajectory.id)
        self._counts.update(
            counts,
            repeated_beginnings=self._beginnings.repeat(trajectory, trajectory.trial if self._names_trial else 0),
            calls_as_text=not counts["calls"]
            and (self._lists_tools or _WRITTEN_CALL.search(trajectory.text) is not None),
        )
        if (usage := trajectory.usage) is not None:
            self._tokens.append((usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.is_list_price))


def check_readable(files: Sequence[DropFile], format_name: str) -> None:
    """Check that a format reads a record of the files, before it is kept for them.

    Raises:
        UnreadableDrop: it reads none, or a file is damaged.
    """
    items = ImportReport().read(format_of(files, format_name), files)
    first = next(items, None)
    if first is None or isinstance(first, Trajectory) or any(isinstance(item, Trajectory) for item in items):
        return
    why = f"{first.source}, record {first.line}: {first.detail}"
    raise UnreadableDrop(f"nothing can be read as {format_name} ({why}). Choose another format, or let it be detected.")
