"""What `evaluate` returns, or raises when the budget is spent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evaluation_assets.api.errors import EvaluationError, RunFailed
from evaluation_assets.api.home import StoredResult
from evaluation_assets.api.html import result_html

if TYPE_CHECKING:
    from evaluation_assets.runs.outcomes import FailedCheck


@dataclass(frozen=True, slots=True, repr=False)
class Result(StoredResult):
    """What `evaluate` returns. `failed_checks` are the asset checks that failed, with those that do not block.

    `status` is `passed`, `check_failed` (a blocking check failed) or `over_budget`.
    """

    status: Literal["passed", "check_failed", "over_budget"]
    failed_checks: "tuple[FailedCheck, ...]" = ()

    @property
    def passed(self) -> bool:
        """Whether the evaluation is complete and all blocking checks passed, the gate among them."""
        return self.status == "passed"

    def check(self) -> "Result":
        """This result, if it passed.

        Raises:
            RunFailed: a blocking check failed, or the budget is spent; the message names the checks.
        """
        if self.passed:
            return self
        blocking = [f"{each.name}: {each.description or 'failed'}" for each in self.failed_checks if each.blocks]
        raise RunFailed(f"{self.drop}: {'; '.join(blocking) or self.status}. Report: {self.report}")

    def __repr__(self) -> str:
        return f"Result({self.drop!r}, {self.status!r}, report={str(self.report)!r})"

    def _repr_html_(self) -> str:
        return result_html(self.summary, self.report, self.status.replace("_", " "))


class BudgetSpent(EvaluationError):
    """The budget was spent before the evaluation was complete. Paid replies are kept; `result` is what there is."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result
