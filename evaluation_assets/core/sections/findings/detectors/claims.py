"""[claims] Actions that an agent says it has done, and that no successful call does.

A call does an action if a word of its tool's name may mean it, and if it names the order, booking or other code that
the claim names. What is only "added" or "issued" takes a call about such a thing, if a tool is named after it. Items
of lists with a code are claims, if calls of their turn may have done something. Agents that run code or act on pages
may do anything, and are not checked.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from evaluation_assets.core.sections.findings.claim import Claim
from evaluation_assets.core.sections.findings.detector import Detected, Detector, claimed_in, in_message
from evaluation_assets.core.sections.findings.evidence.actions import Action, actions
from evaluation_assets.core.sections.findings.evidence.course import LONGEST_SENTENCE, Course, PlacedStep, sentences
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.echoed import plain_letters
from evaluation_assets.core.sections.findings.evidence.effects import may_do_anything
from evaluation_assets.core.sections.findings.evidence.values import values_in
from evaluation_assets.core.suites.effects import changes_state, has_known_verb, things_of, words_of, words_of_tool
from evaluation_assets.core.traces.trajectories.model import Span

_CODE = re.compile(r"\b(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12}\b")
_ITEM = re.compile(r"\s*(?P<item>(?:[-*•]|\d{1,2}[.)])[ \t]+\S.*)")
_NUMBERED = re.compile(r"\d[^\W_]*[A-Z]|[A-Z][^\W_]*\d")
_THING = re.compile(r"[^\W\d_]+")
_SUBJECT = 2
"""Words before a claim that may be its subject: `two checked bags have been added`."""

_CLAUSE = re.compile(r",? (?:so|but|and) (?=i(?:['’]ve| have| ['’]?ve)? )|; (?=i(?:['’]ve| have) )", re.IGNORECASE)
"""Before a main clause with its own subject: `I can't see it, so I have opened a ticket`."""

_GOES_ON = re.compile(
    r"[,;，；]\s*|\s(?=(?:so|and|but|und|aber|et|mais|y|pero|e|ma|mas|и|но)\s)",
    re.IGNORECASE,
)
"""Where another clause may begin, which says what will be: `I've locked it, and nobody can use it`."""

_IS_CONDITION = re.compile(
    r"(?:but |and |aber |und )?(?:only )?(?:if|unless|once|when|until|provided|as soon as|wenn|falls|sobald|sofern|si"
    r"|quand|cuando|se|quando|если|когда)\b|如果|若|一旦",
    re.IGNORECASE,
)
_ASKS = ("?", "？")
_MOST_OF_CONSENT = 8
"""Words of a message that only agrees."""

_LOOKS = frozenset({"get", "list", "search", "find", "show", "read", "lookup", "fetch", "view", "query"})
_GENERAL = frozenset(
    "run execute exec command invoke call request post put patch perform dispatch trigger submit api http".split()
)
_MAKES = "create"
"""Verbs of tools that may do anything: what they are given, or the noun beside `create`, says what."""

_CHANGES = "change"
"""The action that may be done to a text of the agent, as well as by a tool."""

_LONGEST_GIVEN = 20_000
_LEAST_OF_NOUN = 4
_SHORTEST = 3
_WORD = re.compile(r"[^\W\d_]+")
_ENDING = 2
"""Letters by which infinitives end in German and the Romance languages."""


def _detect(course: Course) -> Iterator[Detected | Claim]:
    own = {tool.name for agent in course.trajectory.agents for tool in agent.tools or ()}
    tools = own | course.forms.tools
    if not (course.calls or tools) or any(may_do_anything(made.call) for made in course.calls):
        return
    performed = _Performed(course.calls, tools)
    words = {word for tool in tools if changes_state(tool) for word in words_of_tool(tool)}
    is_known = bool(course.calls or own)  # else only other runs of the drop show which tools there are
    known = [
        action for action in actions() if not ((action.with_tool or not is_known) and action.tools.isdisjoint(words))
    ]
    asked = [turn.user_message or "" for turn in course.trajectory.turns]
    ends_in_question = {message.turn + 1: "?" in message.text for message in course.messages}
    for message in course.messages:
        listed = 0
        for start, end in sentences(message.text):
            sentence = message.text[start:end]
            if (reason := cues("reason").search(sentence)) is not None:
                sentence = sentence[: reason.start()]
            if (clause := _CLAUSE.search(sentence)) is not None:
                sentence = sentence[clause.end() :]
            if len(sentence) > LONGEST_SENTENCE or not (sentence := _claiming(sentence, known, words)):
                continue
            performed.read_until(message.turn)
            claimed = [
                action
                for action in known
                if action.claims.matches(sentence)
                or (
                    action.states.matches(sentence)
                    and (
                        action.name in performed.failed
                        or (
                            performed.last_change != message.turn
                            and _is_asked(
                                action, asked[message.turn], words, is_answer=ends_in_question.get(message.turn, False)
                            )
                        )
                    )
                )
                or (action.tools and performed.last_change == message.turn and _is_item(action, sentence))
            ]
            if not claimed:
                continue
            named = [action for action in claimed if action.tools] or claimed  # 'created' says less than 'a ticket'
            subjects = [(start, end)]
            if start >= listed:  # an item of a list introduces none
                subjects, listed = _subjects(message.text, start, end)
            for span in subjects:
                codes = _codes(sentence if span == (start, end) else message.text[slice(*span)])
                is_done = all(performed.has(action, codes) for action in named) and not (
                    _only_says_so(named) and performed.lacks(_things(named, sentence))
                )
                yield claimed_in(message, span, "supported" if is_done else "not_found")
                if not is_done:
                    yield in_message("unperformed_claim", message, span)


def _claiming(sentence: str, known: Sequence[Action], words: Collection[str]) -> str:
    """A sentence as far as it may claim something: to the end of a clause that does, if no condition follows.

    The agent must have a tool for it, and what was changed have a code: a draft or a plan is changed without one.
    """
    no_claim = cues("no_claim")
    if not no_claim.matches(sentence):
        return sentence
    if sentence.rstrip()[-1:] in _ASKS:
        return ""
    for boundary in _GOES_ON.finditer(sentence):
        clause, rest = sentence[: boundary.start()], sentence[boundary.end() :]
        if no_claim.matches(clause):
            return ""
        if any(
            action.claims.matches(clause)
            for action in known
            if not action.tools.isdisjoint(words) and (action.name != _CHANGES or _codes(clause))
        ):
            return "" if _IS_CONDITION.match(rest) else clause
    return ""


def _is_asked(action: Action, message: str, words: Collection[str], *, is_answer: bool) -> bool:
    """Whether a user asks for an action that a tool does, by a word of its name, or agrees to what was proposed.

    A short answer to the agent's question agrees, unless it declines or asks back.
    """
    own = action.tools & set(words)
    if not own:
        return False
    if not own.isdisjoint(words_of(message)):
        return True
    is_short = len(message.split()) <= _MOST_OF_CONSENT and "?" not in message
    return is_short and (cues("consent").matches(message) or (is_answer and not cues("decline").matches(message)))


def _is_item(action: Action, sentence: str) -> bool:
    """Whether an item of a list says that an action was done to what has a code: `- W2378156 (lamp): cancelled`."""
    is_item = _ITEM.fullmatch(sentence) is not None and _NUMBERED.search(sentence) is not None
    return is_item and bool(_codes(sentence)) and action.words.matches(sentence)


def _only_says_so(actions: Sequence[Action]) -> bool:
    return not any(action.tools for action in actions)


def _things(actions: Sequence[Action], sentence: str) -> set[str]:
    """The words just before a claim, its subject."""
    claims = (action.claims.search(sentence) for action in actions)
    before = (_THING.findall(sentence[: claim.start()])[-_SUBJECT:] for claim in claims if claim is not None)
    return {word.casefold() for words in before for word in words}


def _are_alike(word: str, other: str) -> bool:
    """Whether one begins with the other: `bags` and `baggage`."""
    word, other = word.removesuffix("s"), other.removesuffix("s")
    return min(len(word), len(other)) >= _SHORTEST and (word.startswith(other) or other.startswith(word))


def _subjects(text: str, start: int, end: int) -> tuple[list[Span], int]:
    """What a claim is about, and where that ends: the sentence, or items with a code in the list that it introduces."""
    items: list[Span] = []
    at = end
    while text[end - 1] in ":：" and (item := _ITEM.match(text, at)) is not None:
        if _codes(item["item"]):
            items.append(item.span("item"))
        at = item.end()
    return items or [(start, end)], at


class _Performed:
    """The actions that calls did, or that their results say are done, and to what. Each call is read once.

    `failed` are the actions of calls that failed, `last_change` is the last turn in which a call may have changed
    something.
    """

    def __init__(self, calls: Iterable[PlacedStep], tools: Iterable[str]) -> None:
        self._calls = deque(calls)
        self._untouched = {thing for tool in tools if changes_state(tool) for thing in things_of(tool)}
        self.failed: set[str] = set()
        self.last_change: int | None = None
        self._done: set[str] = set()
        self._done_to_anything: set[str] = set()
        self._codes: dict[str, set[str]] = {}
        self._lengths: dict[str, set[int]] = {}

    def read_until(self, turn: int) -> None:
        """Read the calls of all turns up to this one."""
        while self._calls and self._calls[0].turn <= turn:
            made = self._calls.popleft()
            if not made.step.has_succeeded:
                self.failed.update(action.name for action in actions() if _does(action, made))
                continue
            if changes_state(made.call.name):
                self.last_change = made.turn
                for word in set(words_of(f"{made.call.name} {made.arguments_text}")):
                    self._untouched -= {thing for thing in self._untouched if _are_alike(word, thing)}
            codes: set[str] | None = None
            for action in actions():
                if not _does(action, made) and not action.words.matches(made.result):
                    continue
                if codes is None:
                    codes = _codes(made.arguments_text) | _codes(made.result)
                self._done.add(action.name)
                if not codes:
                    self._done_to_anything.add(action.name)
                self._codes.setdefault(action.name, set()).update(codes)
                self._lengths.setdefault(action.name, set()).update(map(len, codes))

    def lacks(self, things: Collection[str]) -> bool:
        """Whether a tool that changes state is named after one of these things, and no call was about it."""
        return any(_are_alike(word, thing) for word in things for thing in self._untouched)

    def has(self, action: Action, named: set[str]) -> bool:
        """Whether the action was done, to what is named if anything is.

        A code that is longer or shorter than all those of its calls may name the same thing in another way, as that of
        a file does beside its ID.
        """
        lengths = self._lengths.get(action.name, ())
        named = {code for code in named if len(code) in lengths}
        if not named or action.name in self._done_to_anything:
            return action.name in self._done
        return not named.isdisjoint(self._codes.get(action.name, ()))


def _does(action: Action, made: PlacedStep) -> bool:
    words = words_of_tool(made.call.name)
    is_lookup = not _LOOKS.isdisjoint(words[:1]) and "and" not in words  # `get_order` orders nothing
    if not is_lookup and not action.tools.isdisjoint(words):
        return True
    if not has_known_verb(made.call.name) and any(stem in action.stems for stem in _stems_of(made.call.name)):
        return True
    is_general = not _GENERAL.isdisjoint(words)
    if is_general or _MAKES in words:  # what is done is said by a noun, or by what is given
        given = words_of(made.arguments_text[:_LONGEST_GIVEN]) if is_general else []
        if any(_names(word, tool) for word in (*words, *given) for tool in action.tools):
            return True
    return (is_general or changes_state(made.call.name)) and (
        not action.tools or action.words.matches(made.arguments_text)
    )


@lru_cache(maxsize=256)
def _stems_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's name without their endings, `aender` of `adresse_aendern`, as `Action.stems` has them."""
    stems = (plain_letters(word)[:-_ENDING].replace("ge", "") for word in _WORD.findall(tool))
    return tuple(stem for stem in stems if len(stem) >= _SHORTEST)


def _names(word: str, verb: str) -> bool:
    """Whether a word is a verb or a noun of it: `cancellations` of `cancel`."""
    return word == verb or (len(verb) >= _LEAST_OF_NOUN and word.startswith(verb))


def _codes(text: str) -> set[str]:
    forms = {form for value in values_in(text) if value.kind == "code" for form in value.forms}
    return forms | {code.casefold() for code in _CODE.findall(text)}


DETECTOR = Detector(name="claims", version="14", kinds=("unperformed_claim",), detect=_detect)
