"""Escape untrusted text (names, IDs, messages from files) for terminals, Markdown, chats and spreadsheets."""

import re
from bisect import bisect_right

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\[|vso\[|teamcity\[)", re.MULTILINE)
"""How a line of a log becomes a command of GitHub Actions, Azure Pipelines or TeamCity."""

_AFTER_NUMBER = "|".join(rf"(?<=^\d{{{digits}}})[.)]" for digits in range(1, 10))
_MARKUP = re.compile(
    rf"[\\`*\[\]{{}}|~$<>&@]|(?<![^\W_])_|_(?![^\W_])|^[-+#=]|{_AFTER_NUMBER}|!$|(?<=\])\("
    r"|:(?=/|[\w+-]+:|[a-z+-][\w+-]*$)|(?<=mailto):|(?<=xmpp):",
    re.IGNORECASE,
)
"""What means something in Markdown where it stands, and what would become a mention, an emoji or a link."""

_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "@\u200b", ":": "&#58;"}
_CHAT = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "@\u200b"})
_REFERENCE = re.compile(r"(?<=#)(?=\d)|(?<=\bGH-)(?=\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Where an issue or an address begins that GitHub links although its characters are escaped."""

_IGNORABLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's `Default_Ignorable_Code_Point`: fillers, joiners, variation selectors, tags, marks of direction."""

_NOT_SEEN = re.compile(
    rf"(?:\x1b\[|\x9b)[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb{_IGNORABLE}]"
)
_ESCAPED_SIGNS = "\\=+-@\uff1d\uff0b\uff0d\uff20"
_CSV_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_ESCAPED_IN_CSV = re.compile(rf"{_CONTROL.pattern}|\\(?=u[0-9a-f]{{4}})")
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n", "'")
_INNER_FORMULA = re.compile(r"([;\t\n|][ \"']*)([=+@\uff1d\uff0b\uff0d\uff20]|-(?! ))")
"""A formula where a spreadsheet takes another character than the comma for the end of a cell."""


def visible(text: str) -> str:
    """Without characters that are not seen; they could stand inside of a key."""
    return _NOT_SEEN.sub("", text)


class Visible:
    """The text that is seen of another, with the places of its characters there."""

    def __init__(self, text: str) -> None:
        self._kept_from: list[int] = []
        self._placed_at: list[int] = []
        pieces: list[str] = []
        start = size = 0
        for hidden in _NOT_SEEN.finditer(text):
            if hidden.start() > start:
                self._keep(size, start)
                pieces.append(text[start : hidden.start()])
                size += hidden.start() - start
            start = hidden.end()
        self._keep(size, start)
        self.text = "".join([*pieces, text[start:]]) if start else text

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a span, which is not empty, stands in the other text, with all that is hidden in it."""
        return self._place(start), self._place(end - 1) + 1

    def _keep(self, size: int, start: int) -> None:
        self._kept_from.append(size)
        self._placed_at.append(start)

    def _place(self, index: int) -> int:
        piece = bisect_right(self._kept_from, index) - 1
        return self._placed_at[piece] + index - self._kept_from[piece]


def plain(text: str) -> str:
    """Without characters that steer a terminal or turn the writing direction."""
    return _CONTROL.sub("\ufffd", text)


def for_terminal(text: str) -> str:
    """As `plain`, and without what a CI system takes for a command; lines stay lines."""
    return _COMMAND.sub(lambda match: f"{match[0]} ", plain(text))


def markdown_cell(text: object, limit: int = 160) -> str:
    """For a Markdown table: one line, no markup of its own."""
    line = " ".join(plain(str(text)).split())
    shown = line[:limit] + ("…" if len(line) > limit else "")
    shown = _REFERENCE.sub("\u200b", shown)  # first: `&#58;` is no reference to an issue
    return _MARKUP.sub(lambda sign: _ENTITIES.get(sign[0], f"\\{sign[0]}"), shown)


def for_chat(text: str) -> str:
    """For Slack and what reads its messages: no mention, link or control character of its own."""
    return plain(text).translate(_CHAT)


def csv_cell(text: str) -> str:
    r"""For a cell of a sheet, so that `from_csv_cell` can read it again.

    Characters that steer a terminal or turn the writing direction are written as escapes such as `\u202e`; what a
    spreadsheet would run as a formula has an apostrophe in front. So that a spreadsheet that takes semicolons for the
    ends of cells runs none either, the sign of a formula inside of a text is an escape, too.
    """
    text = _ESCAPED_IN_CSV.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    text = _INNER_FORMULA.sub(lambda match: f"{match[1]}\\u{ord(match[2]):04x}", text)
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_csv_cell(text: str) -> str:
    """What `csv_cell` was given."""
    text = text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
    return _CSV_ESCAPE.sub(lambda match: _unescaped(match[0]), text)


def _unescaped(escape: str) -> str:
    character = chr(int(escape[2:], 16))
    return character if character in _ESCAPED_SIGNS or _CONTROL.match(character) else escape
