"""What the Python API raises. Every message says what is wrong, where, and what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager

from evaluation_assets.core.text.user_error import UserError


class EvaluationError(Exception):
    """Base class of everything that the API raises on purpose."""


class UnusableInput(EvaluationError, ValueError):
    """A file, suite, panel or setting cannot be used."""


class UnknownName(EvaluationError, LookupError):
    """There is no drop, table or baseline of a name. The message lists those that exist."""


class QuoteTooHigh(EvaluationError):
    """The judges would cost more than the panel's `ask_above_usd`, and no budget was given. No model was called.

    `expected_usd` is the quote in US dollars.
    """

    def __init__(self, message: str, expected_usd: float) -> None:
        super().__init__(message)
        self.expected_usd = expected_usd


class RunFailed(EvaluationError, RuntimeError):
    """A step of the evaluation failed for another reason than its input."""


class GateFailed(EvaluationError, AssertionError):
    """The gate blocks: the drop is worse than its baseline. The message says what regressed."""


@contextmanager
def as_unusable() -> Iterator[None]:
    """Raise `UnusableInput` for what the layers below refuse; all of these errors are written for users."""
    from evaluation_assets.core.system.installation import UnusableHome  # noqa: PLC0415  (0.3 s to import)

    try:
        yield
    except UnusableHome as problem:
        raise UnusableInput(f"the home folder cannot be used: {problem}; choose another home") from problem
    except UserError as problem:
        raise UnusableInput(str(problem)) from problem
