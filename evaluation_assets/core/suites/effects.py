"""Which calls change state, judged by the verb in the tool's name, because definitions do not state it."""

import re
from itertools import pairwise

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_READS = frozenset(
    """
    get list find search read look lookup query fetch show view check calculate compute think count describe retrieve
    browse download load inspect verify validate is has can compare summarize translate parse analyze
    """.split()
)
_CHANGES = frozenset(
    """
    activate add adjust append apply approve archive arrange assign block book buy cancel change close commit
    confirm copy create deactivate delete deploy deposit dim disable dispute downgrade edit enable enroll exchange
    execute extend grant insert install invite issue lock make mark merge modify move notify order pause pay place
    post publish purchase push put reassign reboot refund register remove rename renew replace reply reschedule
    reserve reset restart restore resume return revoke rotate save schedule send set share stop submit subscribe
    suspend switch terminate toggle transfer turn unblock unlock unsubscribe update upgrade upload withdraw write
    """.split()
)
_NOUNS = frozenset({"draft", "email", "file", "mail", "open", "request", "rollback", "scale"})
"""Verbs that change something if no other verb follows: `file_claim`, not `file_search`."""

_OPENED = frozenset(
    {"app", "browser", "document", "file", "folder", "image", "link", "page", "pdf", "tab", "url", "website", "window"}
)
"""What is only opened to be read."""

_PEOPLE = frozenset({"agent", "agents", "human", "humans", "operator", "representative", "supervisor"})
_HANDS_OVER = frozenset({"transfer", "escalate", "handoff", "handover", "forward", "connect"})
_HANDS_OVER_TO = frozenset({("transfer", "to"), ("handoff", "to"), ("handover", "to"), ("escalate", "to")})
_HANGS_UP = frozenset({("end", "call"), ("end", "conversation"), ("end", "chat"), ("hang", "up"), ("hangup",)})


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, also those of names such as `transfer_to_agent` and `transferToAgent`."""
    return [word.lower() for word in _WORD.findall(text)]


def words_of_tool(tool: str) -> list[str]:
    """The words of a tool's name in lower case, without its server."""
    return words_of(tool.rpartition("__")[2])


def things_of(tool: str) -> set[str]:
    """What a tool acts on: the words of its name that are no verbs."""
    return set(words_of_tool(tool)) - _READS - _CHANGES


def hands_over(tool: str) -> bool:
    """Whether a tool hands the user over to a person or another agent."""
    words = words_of_tool(tool)
    to_people = not _HANDS_OVER.isdisjoint(words) and not _PEOPLE.isdisjoint(words)
    return to_people or not _HANDS_OVER_TO.isdisjoint(pairwise(words))


def hangs_up(tool: str) -> bool:
    """Whether a tool ends the conversation."""
    return tuple(words_of_tool(tool)[:2]) in _HANGS_UP


def has_known_verb(tool: str) -> bool:
    """Whether a word of a tool's name says whether it reads or changes something."""
    return not (_READS | _CHANGES | _NOUNS).isdisjoint(words_of_tool(tool))


def changes_state(tool: str) -> bool:
    """Whether a tool changes something outside the conversation, by the first verb in its name.

    A name without a known verb is taken for reading, and so is handing a user over to a person.
    """
    words = words_of_tool(tool)
    verb = next((word for word in words if word in _READS or word in _CHANGES), None)
    if verb is None and words and words[0] in _NOUNS:
        return len(words) > 1 and not (words[0] == "open" and words[-1] in _OPENED)
    return verb in _CHANGES and not (verb == "transfer" and not _PEOPLE.isdisjoint(words))
