"""Escape untrusted text (names, IDs, messages from files) for terminals, Markdown, chats and spreadsheets."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\[|vso\[|teamcity\[)", re.MULTILINE)
"""How a line of a log becomes a command of GitHub Actions, Azure Pipelines or TeamCity."""

_MARKUP = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_{}[]()#+-!|~$"}
    | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "@\u200b", ":": "&#58;"}
)
"""Characters that mean something in Markdown, and what would become a mention or a link."""

_CHAT = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "@\u200b"})
_REFERENCE = re.compile(r"(?<=#)(?=\d)|(?<=\bGH-)(?=\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Where an issue or an address begins that GitHub links although its characters are escaped."""

_NOT_SEEN = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
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


def plain(text: str) -> str:
    """Without characters that steer a terminal or turn the writing direction."""
    return _CONTROL.sub("\ufffd", text)


def for_terminal(text: str) -> str:
    """As `plain`, and without what a CI system takes for a command; lines stay lines."""
    return _COMMAND.sub(lambda found: f"{found[0]} ", plain(text))


def markdown_cell(text: object, limit: int = 160) -> str:
    """For a Markdown table: one line, no markup of its own."""
    line = " ".join(plain(str(text)).split())
    shown = line[:limit] + ("…" if len(line) > limit else "")
    return _REFERENCE.sub("\u200b", shown).translate(_MARKUP)  # in this order: `&#58;` is no reference to an issue


def for_chat(text: str) -> str:
    """For Slack and what reads its messages: no mention, link or control character of its own."""
    return plain(text).translate(_CHAT)


def csv_cell(text: str) -> str:
    r"""For a cell of a sheet, so that `from_csv_cell` can read it again.

    Characters that steer a terminal or turn the writing direction are written as escapes such as `\u202e`; what a
    spreadsheet would run as a formula has an apostrophe in front. So that a spreadsheet that takes semicolons for the
    ends of cells runs none either, the sign of a formula inside of a text is an escape, too.
    """
    text = _ESCAPED_IN_CSV.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    text = _INNER_FORMULA.sub(lambda found: f"{found[1]}\\u{ord(found[2]):04x}", text)
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_csv_cell(text: str) -> str:
    """What `csv_cell` was given."""
    text = text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
    return _CSV_ESCAPE.sub(lambda found: _unescaped(found[0]), text)


def _unescaped(escape: str) -> str:
    character = chr(int(escape[2:], 16))
    return character if character in _ESCAPED_SIGNS or _CONTROL.match(character) else escape
