"""The headline of a report: success or pass rate if outcomes are known, else the score."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.reporting.distributions import Statistic
from evaluation_assets.core.scoring.intervals import wilson

Measure = Literal["success", "passed", "right_answer"]
"""The outcome recorded by the source; the suite's verdict on cases; the judged agreement with the reference."""

_WORDS: Mapping[Measure, str] = {"success": "success", "passed": "passed", "right_answer": "right answer"}


class Rate(BaseModel):
    """`count` of the `n` runs with a known outcome; `n_unknown` more have none.

    The 95 % Wilson interval is over tasks: trials of a task are averaged first.
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
        """The rate as text: `success 43 of 100 (43.0 %, 95 % CI 33.7 % to 52.8 %)`."""
        interval = f"95 % CI {_percent(self.ci_low)} to {_percent(self.ci_high)}"
        tasks = "" if self.n_tasks == self.n else f" over {self.n_tasks} tasks"
        unknown = f"; {self.n_unknown} more without a known outcome" if self.n_unknown else ""
        return f"{_WORDS[self.measure]} {self.count} of {self.n} ({_percent(self.rate)}, {interval}{tasks}){unknown}"


class Headline(BaseModel):
    """The headline of a report: `text` is the first of the `rates`, or the score if no outcome is known.

    `score_name` is the name of `overall` in the report. Rules alone measure how the work was done, not whether it
    succeeded.
    """

    model_config = ConfigDict(frozen=True)

    measure: Measure | Literal["score"]
    text: str
    rates: list[Rate]
    score_name: str
    score: float | None


def headline(rates: Sequence[Rate | None], overall: Statistic, *, by_rules_only: bool) -> Headline:
    """Build the headline. `rates` are in order of preference, `None` if the outcome is unknown."""
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
    """The rate of a measure over `runs`; `None` if no run has a known outcome."""
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
