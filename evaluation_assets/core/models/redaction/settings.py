"""Which values are replaced before a text leaves for a provider."""

import re
from collections.abc import Sequence
from typing import Annotated

import regex
from pydantic import BeforeValidator, Field, field_validator

from evaluation_assets.core.models.redaction.kinds import CREDENTIALS, EMAIL, PAYMENT_CARD, TELEPHONE, Shapes
from evaluation_assets.core.models.redaction.presidio import PresidioSettings
from evaluation_assets.core.system.configuration import Section

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_BUILT_IN = {
    "credentials": ("credential", CREDENTIALS),
    "payment_cards": ("payment_card", PAYMENT_CARD),
    "email": ("email", EMAIL),
    "telephone": ("telephone", TELEPHONE),
}


class Redaction(Section):
    """What is replaced in texts.

    Attributes:
        credentials: API keys, tokens, passwords and private keys.
        email: E-mail addresses.
        telephone: Telephone numbers.
        payment_cards: Numbers of payment cards with a valid check digit.
        patterns: Regular expressions of your own, by the name of what they find.
        presidio: What Presidio recognises beside these, for instance names of people (extra `presidio`).
    """

    credentials: bool = True
    email: bool = False
    telephone: bool = False
    payment_cards: bool = False
    patterns: dict[str, str] = Field(default_factory=dict)
    presidio: PresidioSettings | None = None

    @field_validator("patterns")
    @classmethod
    def _patterns_can_be_used(cls, patterns: dict[str, str]) -> dict[str, str]:
        kinds = {kind for kind, _ in _BUILT_IN.values()}
        for name, pattern in patterns.items():
            if not _NAME.fullmatch(name) or name in kinds:
                raise ValueError(
                    "the name of a pattern has lower-case letters, digits and underscores, and is none of "
                    f"{', '.join(sorted(kinds))}"
                )
            try:
                if regex.search(pattern, "", timeout=1.0):
                    raise ValueError(f"the pattern {name} also finds nothing at all; let it need a character")
            except (regex.error, TimeoutError) as problem:
                raise ValueError(f"the pattern {name} is not a regular expression: {problem}") from None
        return patterns

    @property
    def shapes(self) -> Sequence[tuple[str, Shapes]]:
        """The kinds that are replaced, with the forms they have; own patterns are not among them."""
        return [kinds for name, kinds in _BUILT_IN.items() if getattr(self, name)]

    @property
    def fingerprint(self) -> str:
        """A text that is another for other settings. Settings that came later are in it only where they are used."""
        return self.model_dump_json(exclude_none=True)

    @property
    def is_usual(self) -> bool:
        """Whether it replaces what is replaced where nothing is configured."""
        return self == Redaction()


NOTHING = Redaction(credentials=False)
"""For a provider that may see everything, such as one on the own machine."""

OwnRedaction = Annotated[Redaction | None, BeforeValidator(lambda given: NOTHING if given is False else given)]
"""What is replaced for one provider; `false` is nothing, `None` what holds for all."""
