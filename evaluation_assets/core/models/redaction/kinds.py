"""What is found in texts: credentials, e-mail addresses, telephone numbers, payment cards.

All patterns take time in proportion to the text: hostile text is searched too.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluation_assets.core.text.pattern_sets import RequiredTexts

Span = tuple[int, int]


def _always(_: str) -> bool:
    return True


def _has_digit(value: str) -> bool:
    return re.search(r"\d", value) is not None


def is_mixed(value: str) -> bool:
    """Whether it has a digit and a letter."""
    return _has_digit(value) and re.search(r"[A-Za-z]", value) is not None


def _is_model_key(value: str) -> bool:
    """Not a name such as `sk-toggleable__content-arrow`: random characters have digits, and capitals or a long run."""
    return _has_digit(value) and re.search(r"[A-Z]|[a-z0-9]{32}", value) is not None


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False


def _is_card(value: str) -> bool:
    """Whether the check digit is right (Luhn), and an issuer's first digit stands in front."""
    digits = [int(digit) for digit in value if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return digits[0] in range(2, 7) and len(set(digits)) > 1 and (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def _is_telephone(value: str) -> bool:
    return 8 <= sum(character.isdigit() for character in value) <= 15


@dataclass(frozen=True, slots=True)
class Shape:
    """A form that a value has. Where the pattern has a group `value`, only that is the value."""

    pattern: re.Pattern[str]
    holds: Callable[[str], bool] = _always

    @property
    def needs_surroundings(self) -> bool:
        """Whether a value cannot be told by itself, as a password."""
        return "value" in self.pattern.groupindex

    def spans(self, text: str) -> Iterator[Span]:
        """Where values stand."""
        group = "value" if self.needs_surroundings else 0
        for match in self.pattern.finditer(text):
            if self.holds(match[group]):
                yield match.span(group)


class Shapes:
    """Forms of one kind of value. Those that a text cannot have are not looked for."""

    def __init__(self, *shapes: Shape) -> None:
        self._shapes = shapes
        self._required = RequiredTexts(shape.pattern.pattern for shape in shapes)

    def found_in(self, text: str) -> Iterator[tuple[Shape, Span]]:
        """Where values stand, form by form."""
        for number in sorted(self._required.possible(text)):
            yield from ((self._shapes[number], span) for span in self._shapes[number].spans(text))


_PEM = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

CREDENTIALS = Shapes(
    Shape(
        re.compile(
            rf"-----BEGIN {_PEM}(?:(?:(?!-----).){{0,20000}}-----END {_PEM}"
            r"|(?:(?:\s|\\+[rn])*[A-Za-z0-9+/=]{40,})*)",
            re.DOTALL,
        ),
    ),
    Shape(re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])")),
    Shape(re.compile(r"\bgh[opsru]_[A-Za-z0-9]{36,}")),
    Shape(re.compile(r"\bgithub_pat_\w{22,}")),
    Shape(re.compile(r"\bglpat-[\w-]{20,}")),
    Shape(re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    Shape(re.compile(r"\bxapp-\d-[A-Za-z0-9-]{20,}")),
    Shape(re.compile(r"hooks\.slack\.com/services/(?P<value>T\w+/B\w+/\w{16,})")),
    Shape(re.compile(r"(?<![\w-])sk-[\w-]{20,}"), _is_model_key),
    Shape(re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    Shape(re.compile(r"\bAIza[\w-]{35}")),
    Shape(re.compile(r"\bya29\.[\w-]{20,}")),
    Shape(re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    Shape(re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    Shape(re.compile(r"\bpypi-[\w-]{50,}")),
    Shape(re.compile(r"\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b")),
    Shape(re.compile(r"\bdop_v1_[a-f0-9]{64}\b")),
    Shape(re.compile(r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}")),
    Shape(re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    Shape(re.compile(r"\bbearer\s{1,4}(?P<value>[\w.~+/=-]{16,})", re.IGNORECASE), _has_digit),
    Shape(re.compile(r"\bbasic\s{1,4}(?P<value>[A-Za-z0-9+/]{8,}={0,2})", re.IGNORECASE), _is_user_and_password),
    Shape(re.compile(r"://[^\s/:@'\"<>\\]{0,200}:(?P<value>[^\s/'\"<>\\]{1,200})@")),
    Shape(
        re.compile(
            r"(?:(?:api|access|account)[_-]?key|secret|token|session[_-]?id)"
            r"[\\\"']{0,3}\s{0,4}(?:[:=]|%3d)\s{0,4}[\\\"']{0,3}(?P<value>[\w.+/=%-]{20,})",
            re.IGNORECASE,
        ),
        is_mixed,
    ),
    Shape(
        re.compile(
            r"(?:password|passwd|pwd)[\\\"']{0,3}\s{0,4}(?:[:=]|%3d)\s{0,4}[\\\"']{0,3}(?P<value>[^\s\"'\\,;&<>]{6,200})",
            re.IGNORECASE,
        ),
        is_mixed,
    ),
)
"""Keys and tokens of common services, private keys, headers, and passwords in URLs."""

EMAIL = Shapes(
    Shape(
        re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}\b"),
    ),
)
TELEPHONE = Shapes(
    Shape(re.compile(r"(?<![\w.+-])\+\d[\d ().-]{6,20}\d(?!\w)"), _is_telephone),
    Shape(re.compile(r"(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])")),
    Shape(re.compile(r"(?<![\w.:/-])0\d{1,5}[ /-]\d[\d -]{4,12}\d(?![\w-])"), _is_telephone),
)
PAYMENT_CARD = Shapes(Shape(re.compile(r"(?<![\w.-])\d(?:[ -]?\d){11,18}(?![\w-])"), _is_card))
