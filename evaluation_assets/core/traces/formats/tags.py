"""Structure of a text of XML-like tags, as agent frameworks log it: reasoning, calls, results and the answer.

The text is not XML: tags stay open, close twice, and are quoted in tool outputs. So this is a tokenizer with a grammar
instead of a document parser. It treats as text (not as structure):

* everything inside reasoning, inside a result, inside a call's arguments, and after the start of the answer;
* a tag that is never closed, unless it is in the vocabulary;
* any other closed tag, unless it is a tool call, i.e. its block is followed by a result.

Each text is read once: every search starts where the last one ended or is cached, so that time is linear in the length
of the text, even for 200 kB of open tags.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from evaluation_assets.core.traces.trajectories.model import Repair, RepairAction

REASONING = ("think", "sub_task_think")
RESULT = "result"
INFORMATION = "information"
"""What a search gives back to models that Search-R1 trained; a result where it stands behind a call."""

ANSWER = "answer"
MARKERS = frozenset({"execute_tools", "parallel", "sequential"})
JSON_CALL = "tool_call"
DEFAULT_SERVERS = ("microsandbox", "deepsearch", "browser_use", "search_tool", "tavily", "perform_web_task")

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.\-]*)(?:\s[^<>]*|/)?>")
_EXECUTED = re.compile(r"<execute_tools\s*/?>|<result>")
_NEXT_THOUGHT = re.compile(r"<(?:think|sub_task_think|answer)>|<execute_tools\s*/?>")
_NEAR = 1 << 14
"""Distance within which a closing tag is searched as plain text, five times faster than the regular expression."""

_MARKER_GAP = re.compile(r"(?:\s|</?(?:execute_tools|parallel|sequential)\s*/?>)*")


class Block(NamedTuple):
    """A structural block: `text[start:end]` with its tags, `text[inner:inner_end]` without them.

    A tuple, since a text has dozens of blocks and a frozen dataclass takes three times as long to create.
    """

    kind: str
    name: str
    start: int
    inner: int
    inner_end: int
    end: int


@dataclass(frozen=True, slots=True)
class Structure:
    """The blocks of a text in order, and the repairs of its unbalanced tags."""

    blocks: tuple[Block, ...]
    repairs: tuple[Repair, ...]


class _Close(NamedTuple):
    """End of a block: its content, its closing tag, and how it was found."""

    inner_end: int
    end: int
    repaired: bool = False


class _Places:
    """Occurrences of a pattern, searched lazily and cached."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern, self._text = pattern, text
        self._starts: list[int] | None = None

    def after(self, position: int) -> int:
        """Start of the first match at or after `position`; the length of the text when there is none."""
        if self._starts is None:
            self._starts = [match.start() for match in self._pattern.finditer(self._text)]
        index = bisect_left(self._starts, position)
        return self._starts[index] if index < len(self._starts) else len(self._text)


class _Token(NamedTuple):
    start: int
    end: int
    closing: bool


class _Pairs:
    """All tags of one name, with opening and closing tags matched by nesting."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.closings = [token for token in tokens if token.closing]
        self._closing_starts = [token.start for token in self.closings]
        self.partner: dict[int, _Token] = {}
        pending: list[_Token] = []
        for token in tokens:
            if not token.closing:
                pending.append(token)
            elif pending:
                self.partner[pending.pop().start] = token

    def first_closing(self, position: int) -> _Token | None:
        index = bisect_left(self._closing_starts, position)
        return self.closings[index] if index < len(self.closings) else None


@cache
def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}(?:\s[^<>]*)?(?<!/)>")


@cache
def _boundary_pattern(servers: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, (*REASONING, RESULT, ANSWER, JSON_CALL, *servers)))
    return re.compile(rf"<(?:{names})(?:\s[^<>]*)?>|<execute_tools\s*/?>")


class _Reader:
    """A single pass over a text."""

    def __init__(self, text: str, servers: tuple[str, ...]) -> None:
        self.text = text
        self.servers = frozenset(servers)
        self.repairs: list[Repair] = []
        self._structural = _Places(_boundary_pattern(servers), text)
        self._executed = _Places(_EXECUTED, text)
        self._next_thought = _Places(_NEXT_THOUGHT, text)
        self._exhausted: set[str] = set()
        self._searched: dict[str, int] = {}
        self._index: dict[str, list[_Token]] | None = None
        self._pairs: dict[str, _Pairs] = {}
        self._handed_over: dict[int, bool] = {}
        self._after_markers: dict[int, re.Match[str] | None] = {}

    def blocks(self) -> Iterator[Block]:
        """The structural blocks in order."""
        text, position, kind = self.text, 0, ""
        while (tag := _TAG.search(text, position)) is not None:
            closing, name = tag.groups()
            start, position = tag.span()
            if name in MARKERS:
                continue
            if closing:
                if name in self.servers or name in (*REASONING, RESULT, ANSWER, JSON_CALL):
                    self._repair(name, start, "kept_as_text")
                continue
            if self._is_self_closing(position):
                if name in self.servers:
                    yield Block("call", name, start, position, position, position)
                continue
            if name == ANSWER:
                end = self._answer_end(position)
                yield Block("answer", name, start, position, end.inner_end, end.end)
                return
            if name in REASONING:
                end = self._end(name, start, position, self._executed)
                kind = "thought"
            elif name == RESULT or (name == INFORMATION and kind == "call"):
                end = self._end(name, start, position, self._next_thought)
                end = self._extend_over_stray_closings(end)
                kind = "result"
            elif name in self.servers or name == JSON_CALL:
                end = self._call_end(name, start, position)
                kind = "call"
            elif self._is_handed_over(name, position):
                closing_tag = self._first_closing(name, position)
                assert closing_tag is not None
                end = _Close(closing_tag.start, closing_tag.end)
                kind = "call"
            else:
                continue
            yield Block(kind, name, start, position, end.inner_end, end.end)
            position = end.end

    def _is_self_closing(self, tag_end: int) -> bool:
        return self.text[tag_end - 2] == "/"

    def _repair(self, tag: str, offset: int, action: RepairAction) -> None:
        self.repairs.append(Repair(tag=tag, offset=offset, action=action))

    def _pairs_of(self, name: str) -> _Pairs:
        if self._index is None:
            self._index = {}
            for tag in _TAG.finditer(self.text):
                if not self._is_self_closing(tag.end()):
                    self._index.setdefault(tag[2], []).append(_Token(tag.start(), tag.end(), bool(tag[1])))
        if name not in self._pairs:
            self._pairs[name] = _Pairs(self._index.get(name, []))
        return self._pairs[name]

    def _near_closing(self, name: str, position: int) -> int:
        """Start of the next plain closing tag if it is near, else -1; failed searches are not repeated."""
        start = max(position, self._searched.get(name, 0))
        position_of_end = self.text.find(f"</{name}>", start, position + _NEAR)
        if position_of_end < 0:
            self._searched[name] = position + _NEAR - len(name) - 3
        return position_of_end

    def _first_closing(self, name: str, position: int) -> _Token | None:
        if self._index is None:
            plain = self._near_closing(name, position)
            if plain >= 0:
                return _Token(plain, plain + len(name) + 3, closing=True)
        return self._pairs_of(name).first_closing(position)

    def _end(self, name: str, start: int, inner: int, interruption: _Places) -> _Close:
        """The end of the block opened at `start`.

        A tag of the same name inside the block is a quotation, unless `interruption` precedes it: then the block was
        never closed, and the closing tag belongs to the later block.
        """
        if name in self._exhausted:
            return self._close_before_structure(name, inner)
        plain = self._near_closing(name, inner)
        if plain >= 0 and self.text.find(f"<{name}", inner, plain) < 0:
            return _Close(plain, plain + len(name) + 3)
        following = _name_pattern(name).search(self.text, inner)
        if following is None:
            self._exhausted.add(name)
            return self._close_before_structure(name, inner)
        if following[1]:
            return _Close(following.start(), following.end())
        pairs = self._pairs_of(name)
        first = pairs.first_closing(inner)
        if first is None or interruption.after(inner) < following.start():
            return self._close_before_structure(name, inner)
        partner = pairs.partner.get(start)
        if partner is not None and interruption.after(first.end) >= partner.start:
            return _Close(partner.start, partner.end)
        return _Close(first.start, first.end)

    def _close_before_structure(self, name: str, inner: int) -> _Close:
        return self._close_at(name, inner, self._structural.after(inner))

    def _close_at(self, name: str, inner: int, boundary: int) -> _Close:
        """Close a block without an end before the whitespace that precedes `boundary`."""
        offset = boundary
        while offset > inner and self.text[offset - 1].isspace():
            offset -= 1
        self._repair(name, offset, "closed")
        return _Close(offset, offset, repaired=True)

    def _extend_over_stray_closings(self, end: _Close) -> _Close:
        """Include a second closing tag in the result, which producers append to truncated results."""
        if end.repaired:
            return end
        while (stray := _STRAY_RESULT_END.match(self.text, end.end)) is not None:
            self._repair(RESULT, stray.start(1), "extended")
            end = _Close(stray.start(1), stray.end())
        return end

    def _call_end(self, name: str, start: int, inner: int) -> _Close:
        end = self._end(name, start, inner, self._executed)
        if end.repaired or self._is_structural_end(end.end):
            return end
        # More text follows the closing tag, so it may be quoted in the arguments of the tool inside the block.
        tool = _TAG.match(self.text, _skip_space(self.text, inner))
        if tool is None or tool[1]:
            return end
        limit = self._structural.after(end.end)
        closing = self._pairs_of(tool[2]).first_closing(end.end)
        while closing is not None and closing.start < limit:
            outer = _TAG.match(self.text, _skip_space(self.text, closing.end))
            if outer is not None and outer[1] and outer[2] == name:
                return _Close(outer.start(), outer.end())
            closing = self._pairs_of(tool[2]).first_closing(closing.end)
        return end

    def _is_structural_end(self, position: int) -> bool:
        position = _skip_space(self.text, position)
        return position == len(self.text) or _TAG.match(self.text, position) is not None

    def _is_handed_over(self, name: str, inner: int) -> bool:
        """Whether a tag outside the vocabulary is a call: closed, and followed by blocks and then their results."""
        chain: list[int] = []
        while True:
            if inner in self._handed_over:
                answered = self._handed_over[inner]
                break
            chain.append(inner)
            closing = self._first_closing(name, inner)
            if closing is None or self._wraps_execution(inner, closing.start):
                answered = False
                break
            following = self._tag_after_markers(closing.end)
            if following is None or following[1]:
                answered = False
                break
            if following[2] in (RESULT, INFORMATION):
                answered = True
                break
            name, inner = following[2], following.end()
            if name in self.servers or name in (*REASONING, ANSWER, JSON_CALL):
                answered = False
                break
        for position in chain:
            self._handed_over[position] = answered
        return answered

    def _tag_after_markers(self, position: int) -> re.Match[str] | None:
        """The tag after whitespace and markers; cached, since many opening tags may share a closing tag."""
        if position not in self._after_markers:
            gap = _MARKER_GAP.match(self.text, position)
            self._after_markers[position] = _TAG.match(self.text, gap.end() if gap else position)
        return self._after_markers[position]

    def _wraps_execution(self, inner: int, inner_end: int) -> bool:
        """Whether a tag encloses whole steps, i.e. is a wrapper instead of a call."""
        return self._executed.after(inner) < inner_end

    def _answer_end(self, inner: int) -> _Close:
        """The end of the answer: its closing tag, a second answer, or a result appended by the framework."""
        pattern = _name_pattern(ANSWER)
        following = pattern.search(self.text, inner)
        if following is not None and following[1]:
            return _Close(following.start(), following.end())
        if following is not None:
            return self._close_at(ANSWER, inner, following.start())
        appended = _APPENDED_RESULT.search(self.text, inner)
        return self._close_at(ANSWER, inner, appended.start() if appended else len(self.text))


_STRAY_RESULT_END = re.compile(r"\s*(</result\s*>)")
_APPENDED_RESULT = re.compile(r"^<result>", re.MULTILINE)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def read_structure(text: str, servers: tuple[str, ...] = DEFAULT_SERVERS) -> Structure:
    """The structural blocks of a tagged text: thoughts, calls, results and at most one answer, in order.

    Blocks never overlap. Never raises; a text without tags has no blocks.
    """
    reader = _Reader(text, servers)
    blocks = tuple(reader.blocks())
    return Structure(blocks, tuple(sorted(reader.repairs, key=lambda repair: repair.offset)))
