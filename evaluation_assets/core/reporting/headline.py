"""The headline of a report: success or pass rate if outcomes are known, else the score."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.reporting.distributions import Statistic
from evaluation_assets.core.scoring.intervals import wilson

Measure = Literal["success", "passed", "right_answer"]
"""The outcome the source recorded; cases of the suite; answers that agree with the reference, as judged."""

_WORDS: Mapping[Measure, str] = {"success": "success", "passed": "passed", "right_answer": "right answer"}


class Rate(BaseModel):
    """`count` of `n` runs whose outcome is known; that of `n_unknown` more is not.

    The interval (95 %, Wilson) rests on tasks: trials of a task are averaged first.
    """

    model_config = ConfigDict(frozen=True)

    measure: Measure
    count: int
    n: int
    n_tasks: int
    n_unknown: int = 0
    rate: float
    ci_low: float
    ci_high: float

    @property
    def text(self) -> str:
        """The rate in words: `success 43 of 100 (43.0 %, 95 % CI 33.7 % to 52.8 %)`."""
        interval = f"95 % CI {_percent(self.ci_low)} to {_percent(self.ci_high)}"
        tasks = "" if self.n_tasks == self.n else f" over {self.n_tasks} tasks"
        unknown = f"; {self.n_unknown} more without a known outcome" if self.n_unknown else ""
        return f"{_WORDS[self.measure]} {self.count} of {self.n} ({_percent(self.rate)}, {interval}{tasks}){unknown}"


class Headline(BaseModel):
    """`text` is the most direct of the `rates`, or the score where no outcome is known.

    `score_name` is what the report calls `overall`: by rules alone it says how the work was done, not whether it
    succeeded.
    """

    model_config = ConfigDict(frozen=True)

    measure: Measure | Literal["score"]
    text: str
    rates: list[Rate]
    score_name: str
    score: float | None


def headline(rates: Sequence[Rate | None], overall: Statistic, *, by_rules_only: bool) -> Headline:
    """The headline; `rates` come in order of preference, `None` where an outcome is not known."""
    known = [rate for rate in rates if rate is not None]
    name = "process score (rules)" if by_rules_only else "overall score"
    mean = "–" if overall.mean is None else f"{overall.mean:.3f}"
    score = f"{name} {mean} over {overall.n_scored} trajectories; no outcome is known"
    return Headline(
        measure=known[0].measure if known else "score",
        text=known[0].text if known else score,
        rates=known,
        score_name=name,
        score=overall.mean,
    )


def rate(measure: Measure, outcomes_by_task: Mapping[str, Sequence[bool]], runs: int | None = None) -> Rate | None:
    """How many of `runs` did it, as far as that is known; `None` without a run whose outcome is known."""
    tasks = [outcomes for outcomes in outcomes_by_task.values() if outcomes]
    if not tasks:
        return None
    count, n = sum(map(sum, tasks)), sum(map(len, tasks))
    low, high = wilson(sum(fmean(outcomes) for outcomes in tasks), len(tasks))
    share = count / n
    return Rate(
        measure=measure,
        count=count,
        n=n,
        n_tasks=len(tasks),
        n_unknown=0 if runs is None else runs - n,
        rate=share,
        ci_low=min(low, share),
        ci_high=max(high, share),
    )


def _percent(value: float) -> str:
    return f"{value:.1%}".replace("%", " %")
