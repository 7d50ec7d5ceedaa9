"""What the Python API raises. Every message says what is wrong, where, and what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager


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
    from evaluation_assets.core.gating.baselines import InvalidBaseline  # noqa: PLC0415
    from evaluation_assets.core.intake.clips.tool_types import InvalidToolTypes  # noqa: PLC0415  (0.3 s to import)
    from evaluation_assets.core.intake.drops import InvalidDrop  # noqa: PLC0415
    from evaluation_assets.core.judging.panel import InvalidPanel  # noqa: PLC0415
    from evaluation_assets.core.judging.rubrics.model import InvalidRubric  # noqa: PLC0415
    from evaluation_assets.core.lake.stored import DamagedTable  # noqa: PLC0415
    from evaluation_assets.core.models.errors import LedgerError  # noqa: PLC0415
    from evaluation_assets.core.pipeline.settings import InvalidSettings  # noqa: PLC0415
    from evaluation_assets.core.suites.suite import InvalidSuite  # noqa: PLC0415
    from evaluation_assets.core.system.installation import UnusableHome  # noqa: PLC0415
    from evaluation_assets.core.system.own_code import InvalidFunction  # noqa: PLC0415
    from evaluation_assets.core.system.plugins import InvalidPlugin  # noqa: PLC0415
    from evaluation_assets.core.traces.formats.base import UnreadableDrop  # noqa: PLC0415

    try:
        yield
    except UnusableHome as problem:
        raise UnusableInput(f"the home folder cannot be used: {problem}; choose another home") from problem
    except (
        DamagedTable,
        InvalidBaseline,
        InvalidDrop,
        InvalidFunction,
        InvalidPanel,
        InvalidPlugin,
        InvalidRubric,
        InvalidSettings,
        InvalidSuite,
        InvalidToolTypes,
        LedgerError,
        UnreadableDrop,
    ) as problem:
        raise UnusableInput(str(problem)) from problem
