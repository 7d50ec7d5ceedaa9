"""Evidence in a trajectory: failures, repeats, sources, use of results, an answer."""

import ast
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from evaluation_assets.core.judging.rules.neighbours import following, last_same
from evaluation_assets.core.judging.rules.seen_addresses import SeenAddresses
from evaluation_assets.core.sections.findings.detectors.cut_off import DETECTOR as CUT_OFF_DETECTOR
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.suites.calls import CUT_OFF
from evaluation_assets.core.suites.courtesies import without_courtesies
from evaluation_assets.core.text.python_source import parsed_module
from evaluation_assets.core.traces.trajectories.calls import CallKey, call_key
from evaluation_assets.core.traces.trajectories.growing_words import GrowingWords
from evaluation_assets.core.traces.trajectories.model import Span, Step, Trajectory
from evaluation_assets.core.traces.trajectories.words import (
    are_comparable,
    are_written_in,
    comparable_share,
    numbers,
    share_of_known,
    words,
)

_HOST = re.compile(r"https?://(?:www\.)?([a-z0-9.-]+\.[a-z]{2,})", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s\"'<>)\]}]+", re.IGNORECASE)
_CORRECTION = re.compile(
    r"\b(?:mistake|wrong|incorrect|unrealistic|error|fail\w*|invalid|instead|retry|try again"
    r"|correct(?:ed)? (?:the|this))\b"
    r"|错误|失败|不对|重新|修正|改用|再试",
    re.IGNORECASE,
)
_CODE_TOOL = re.compile(r"python|execute|code|sandbox|run", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Use:
    """How many new words of a result the agent wrote later, and whether it wrote in a script of theirs at all."""

    taken_up: int
    is_in_a_script_of_the_result: bool


class Evidence:
    """What is seen in a whole trajectory; read once, whatever the number of judgements."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.steps = tuple(trajectory.steps)

    def query_of(self, step: Step) -> str:
        """The arguments the agent wrote in a step."""
        return self.trajectory.piece(step.call.raw) if step.call else ""

    def result_of(self, step: Step) -> str:
        """What the tool returned in a step; empty when nothing came."""
        return self.trajectory.piece(step.result.content) if step.result else ""

    @cached_property
    def calls(self) -> list["CallEvidence"]:
        """Every call with what is around it, in order."""
        return [CallEvidence(self, position) for position, step in enumerate(self.steps) if step.call is not None]

    @cached_property
    def call_keys(self) -> list[CallKey | None]:
        """What each step asked for."""
        return [call_key(self.trajectory, step) if step.call else None for step in self.steps]

    @cached_property
    def result_words(self) -> list[frozenset[str]]:
        """Words of each step's result."""
        return [words(self.result_of(step)) for step in self.steps]

    @cached_property
    def written_words(self) -> list[frozenset[str]]:
        """Words the agent wrote in each step: reasoning, arguments, messages without courtesies."""
        piece = self.trajectory.piece
        said = (without_courtesies(piece(step.message).replace(self.answer, self.said)) for step in self.steps)
        return [
            words(piece(step.thought)) | words(self.query_of(step)) | words(message)
            for step, message in zip(self.steps, said, strict=True)
        ]

    @cached_property
    def new_words(self) -> list[frozenset[str]]:
        """For each step, the words that its result brought into the trajectory."""
        seen = set(words(self.trajectory.task))
        new: list[frozenset[str]] = []
        for written, returned in zip(self.written_words, self.result_words, strict=True):
            seen |= written
            new.append(returned - seen)
            seen |= returned
        return new

    @cached_property
    def uses(self) -> list["Use"]:
        """For each step, what the agent wrote after it; the answer comes after all steps."""
        later = GrowingWords(words(self.said))
        uses: list[Use] = []
        for new, written in zip(reversed(self.new_words), reversed(self.written_words), strict=True):
            uses.append(Use(len(new & later.all), are_written_in(new, later.scripts)))
            later.add(written)
        return uses[::-1]

    @cached_property
    def queries_on_topic(self) -> list[float | None]:
        """For each step, the share of its query's words that the task, its reasoning or earlier results have."""
        known = GrowingWords(words(self.trajectory.task))
        shares: list[float | None] = []
        for step, returned in zip(self.steps, self.result_words, strict=True):
            query, thought = words(self.query_of(step)), words(self.trajectory.piece(step.thought))
            on_topic = query & known.all | query & thought
            shares.append(share_of_known(query, known.scripts_with(thought), on_topic))
            known.add(returned)
        return shares

    @cached_property
    def twins(self) -> list[Step | None]:
        """For each step, the last earlier one that asked for exactly the same."""
        return last_same(self.steps, self.call_keys)

    @cached_property
    def last_with_tool(self) -> list[Step | None]:
        """For each step, the last earlier call to the same server, or to the same tool where there is no server."""
        return last_same(self.steps, [_tool_of(step) for step in self.steps])

    @cached_property
    def next_calls(self) -> list[int | None]:
        """For each step, the position of the next one with a call."""
        return following([position if step.call else None for position, step in enumerate(self.steps)])

    @cached_property
    def next_texts(self) -> list[Span | None]:
        """For each step, what the agent writes next."""
        return following([step.thought or step.message for step in self.steps])

    def step_at(self, position: int | None) -> Step | None:
        """The step at a position; `None` for none."""
        return None if position is None else self.steps[position]

    @cached_property
    def last_writing(self) -> int:
        """The last step in which the agent wrote a word; -1 for none."""
        return max((position for position, written in enumerate(self.written_words) if written), default=-1)

    @cached_property
    def addresses(self) -> SeenAddresses:
        """Where the addresses that calls go to were named."""
        asked = {url for call in self.calls if (url := call.visited_url) is not None}
        return SeenAddresses(asked, [self.trajectory.task, *map(self.result_of, self.steps)])

    @cached_property
    def answer(self) -> str:
        """The final answer; of a dialogue that is not cut off, the last thing an agent said. Empty if there is none."""
        return (self.trajectory.final_answer or self._last_said or "").strip()

    @cached_property
    def said(self) -> str:
        """The answer without courtesies, whose words and figures would count for or against what it says."""
        return without_courtesies(self.answer)

    @property
    def _last_said(self) -> str | None:
        turns = self.trajectory.turns
        if len(turns) < 2 or any(CUT_OFF_DETECTOR.detect(Course(self.trajectory))):
            return None
        responses = [each.response for turn in turns for each in turn.interactions if each.response]
        return responses[-1] if responses else None

    @property
    def cut_off(self) -> bool:
        """Whether something stopped the run before its own end."""
        return is_cut_off(self.trajectory)

    @cached_property
    def figures(self) -> frozenset[str]:
        """Numbers in the answer."""
        return _figures(self.said)

    @cached_property
    def known_figures(self) -> int:
        """How many numbers in the answer the task, the results or the reasoning have."""
        unknown = set(self.figures)
        pieces = (self.result_of(step) + "\n" + self.trajectory.piece(step.thought) for step in self.steps)
        for text in chain([self.trajectory.task], pieces):
            if not unknown:
                break
            unknown -= _figures(text)
        return len(self.figures) - len(unknown)

    @cached_property
    def found_words(self) -> frozenset[str]:
        """Words of results and reasoning."""
        return frozenset[str]().union(
            *self.result_words, *(words(self.trajectory.piece(step.thought)) for step in self.steps)
        )

    @property
    def answer_is_comparable(self) -> bool:
        """Whether the answer is in a script that results or reasoning are written in."""
        return are_comparable(words(self.said), self.found_words)

    @cached_property
    def answer_words_seen(self) -> float | None:
        """Share of the answer's words that stand in the task, in results or in the reasoning.

        `None` where there is nothing to compare, or the answer is in another script than results and reasoning.
        """
        if not self.answer_is_comparable:
            return None
        return comparable_share(words(self.said), self.found_words | words(self.trajectory.task))

    @property
    def last_failure_open(self) -> bool:
        """Whether the last call failed, so that nothing was put right after it."""
        return bool(self.calls) and self.calls[-1].error is not None


class CallEvidence:
    """What is seen around one call."""

    def __init__(self, whole: Evidence, position: int) -> None:
        self.whole = whole
        self.position = position
        self.step = whole.steps[position]

    @property
    def query(self) -> str:
        """The arguments the agent wrote."""
        return self.whole.query_of(self.step)

    @property
    def returned(self) -> str:
        """What the tool returned; empty when nothing came."""
        return self.whole.result_of(self.step)

    @property
    def error(self) -> str | None:
        """The failure the result reports."""
        return self.step.result.error if self.step.result else None

    @property
    def answered(self) -> bool:
        """Whether a result came."""
        return self.step.result is not None

    @property
    def thought(self) -> str:
        """The reasoning before the call."""
        return self.whole.trajectory.piece(self.step.thought)

    @property
    def twin(self) -> Step | None:
        """The last earlier step that asked for exactly the same."""
        return self.whole.twins[self.position]

    @property
    def last_with_tool(self) -> Step | None:
        """The last earlier call to the same server (or to the same tool, where there is no server)."""
        return self.whole.last_with_tool[self.position]

    @property
    def next_call(self) -> Step | None:
        """The call after this one."""
        return self.whole.step_at(self.whole.next_calls[self.position])

    @property
    def next_repeats(self) -> bool:
        """Whether the next call asks for exactly the same."""
        following = self.whole.next_calls[self.position]
        return following is not None and self.whole.call_keys[following] == self.whole.call_keys[self.position]

    @property
    def next_has_tool(self) -> bool:
        """Whether the next call goes to the same tool."""
        return self.next_call is not None and _same_tool(self.next_call, self.step)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Internet hosts the result names."""
        return frozenset(host.lower() for host in _HOST.findall(self.returned))

    @cached_property
    def visited_url(self) -> str | None:
        """The address the call goes to."""
        match = _URL.search(self.query)
        return match.group().rstrip("/") if match else None

    @cached_property
    def url_was_seen(self) -> bool:
        """Whether an earlier result or the task named the address the call goes to."""
        url = self.visited_url
        return url is not None and self.whole.addresses.seen_before(url, self.position)

    @property
    def new_words(self) -> frozenset[str]:
        """Words that this result brought into the trajectory."""
        return self.whole.new_words[self.position]

    @property
    def taken_up(self) -> int:
        """How many new words of the result the agent wrote later."""
        return self.whole.uses[self.position].taken_up

    @property
    def can_be_taken_up(self) -> bool:
        """Whether what the agent wrote later is in a script of the result's new words."""
        return self.whole.uses[self.position].is_in_a_script_of_the_result

    @property
    def is_followed(self) -> bool:
        """Whether the agent wrote anything afterwards."""
        return bool(self.whole.answer) or self.whole.last_writing > self.position

    @property
    def query_on_topic(self) -> float | None:
        """Share of the query's words that the task, the reasoning or earlier results have."""
        return self.whole.queries_on_topic[self.position]

    @cached_property
    def task_in_result(self) -> float | None:
        """Share of the task's words that the result has."""
        return comparable_share(words(self.whole.trajectory.task), self.whole.result_words[self.position])

    @cached_property
    def failure_noticed(self) -> bool:
        """Whether what the agent writes next speaks of something going wrong."""
        following = self.whole.trajectory.piece(self.whole.next_texts[self.position])
        return _CORRECTION.search(following) is not None

    @cached_property
    def code(self) -> ast.Module | SyntaxError | None:
        """The call's Python code parsed (never run), the syntax error in it, or `None` when it is no code."""
        call = self.step.call
        if call is None or not (_CODE_TOOL.search(call.name) or _CODE_TOOL.search(call.server or "")):
            return None
        source = (self.whole.trajectory.arguments(call) or {}).get("code", self.query)
        if not isinstance(source, str) or not source.strip():
            return None
        try:
            return parsed_module(source)
        except SyntaxError as problem:
            return problem
        except (ValueError, RecursionError, MemoryError):
            return None

    @property
    def loop_depth(self) -> int | None:
        """How deep loops are nested in the code."""
        return _loop_depth(self.code) if isinstance(self.code, ast.Module) else None

    @property
    def guards(self) -> bool:
        """Whether the code handles exceptions or checks its input."""
        return isinstance(self.code, ast.Module) and any(
            isinstance(node, ast.Try | ast.Assert | ast.Raise) for node in ast.walk(self.code)
        )


def is_cut_off(trajectory: Trajectory) -> bool:
    """Whether a limit or a failure ended the run."""
    return not CUT_OFF.isdisjoint(trajectory.flags)


def _figures(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", "") for number in numbers(unicodedata.normalize("NFKC", text)))


def _tool_of(step: Step) -> str | None:
    return step.call and (step.call.server or step.call.name)


def _same_tool(one: Step, other: Step) -> bool:
    return one.call is not None and other.call is not None and _tool_of(one) == _tool_of(other)


def _loop_depth(node: ast.AST) -> int:
    """Loops around the innermost statement. Walks a stack of its own: hostile code may be nested deeply."""
    deepest = 0
    pending: list[tuple[ast.AST, int]] = [(node, 0)]
    while pending:
        current, depth = pending.pop()
        depth += isinstance(current, ast.For | ast.AsyncFor | ast.While | ast.comprehension)
        deepest = max(deepest, depth)
        pending += [(child, depth) for child in ast.iter_child_nodes(current)]
    return deepest
