"""The headline of a report: the share of correct runs if that is known, with process quality beside it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.gating.figures import signed
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import HeadlineSettings
from evaluation_assets.core.gating.task_metrics import PASS_RATE, SUCCESS
from evaluation_assets.core.report.findings.process_summary import ProcessSummary
from evaluation_assets.core.report.scores.distributions import Statistic
from evaluation_assets.core.scoring.intervals import rate_interval
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.counted import counted, percent, runs_of_tasks

Measure = Literal["success", "passed", "right_answer", "criterion"]
"""The outcome recorded by the source; the suite's verdict on cases; the judged agreement with the reference; any other
criterion from its threshold on."""

RIGHT_ANSWER = "answer_correctness"
"""The criterion of the measure `right_answer`."""

_BY = {"outcome": ("success",), "suite": ("passed",), "criterion": ("right_answer", "criterion")}
_PROCESS = "process score"
_BY_RULES = "overall score of the embedded judge"
_METRICS: Mapping[str, str] = {"success": SUCCESS, "passed": PASS_RATE}
"""Metrics of the gate that are the same outcome."""


class Change(BaseModel):
    """How the headline differs from the suite's baseline, on the `n_tasks` tasks of both, as the gate computes it.

    `compared` names what the gate compared with its value, where that is not the figure of the headline: the mean over
    these tasks, of scores without the leniency of judges.
    """

    model_config = ConfigDict(frozen=True)

    baseline: float
    difference: float
    ci_low: float | None
    ci_high: float | None
    confidence: float
    n_tasks: int
    compared: str | None = None

    @property
    def short(self) -> str:
        """The change without its interval: `-0.143 against the baseline`."""
        what = "" if self.compared is None else f"{self.compared}, "
        return f"{what}{signed(self.difference)} against the baseline"

    @property
    def text(self) -> str:
        """The change as text: `-0.050 against the baseline (90% CI -0.120 to +0.020, 50 tasks)`."""
        if self.difference == self.ci_low == self.ci_high == 0:
            return f"unchanged against the baseline ({counted(self.n_tasks, 'task')})"
        interval = ""
        if self.ci_low is not None and self.ci_high is not None:
            interval = f"{self.confidence:.0%} CI {signed(self.ci_low)} to {signed(self.ci_high)}, "
        return f"{self.short} ({interval}{counted(self.n_tasks, 'task')})"


class Rate(BaseModel):
    """`count` of the `n` runs with a known outcome; `n_unknown` more have none.

    The 95% interval counts the trials of a task as one. `criterion` and `threshold` are those
    of the measure `criterion`.
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
    criterion: str | None = None
    threshold: float | None = None
    change: Change | None = None

    @property
    def name(self) -> str:
        """What is counted: `success`, `passed`, `right answer`, or a criterion with its threshold."""
        if self.measure == "criterion":
            return f"{self.criterion} at least {self.threshold:g}"
        return self.measure.replace("_", " ")

    @property
    def short(self) -> str:
        """The rate without its interval: `success 43 of 100 (43.0%)`."""
        return f"{self.name} {self.count:,} of {self.n:,} ({percent(self.rate)})"

    @property
    def text(self) -> str:
        """The rate as text: `success 43 of 100 runs of 50 tasks (43.0%, 95% CI 33.7% to 52.8%)`."""
        interval = f"95% CI {percent(self.ci_low)} to {percent(self.ci_high)}"
        runs = f"{self.n:,}" if self.n_tasks == self.n else runs_of_tasks(self.n, self.n_tasks)
        lacking = "a known outcome" if self.measure in ("success", "passed") else "a score"
        unknown = f"; {self.n_unknown:,} more without {lacking}" if self.n_unknown else ""
        change = "" if self.change is None else f"; {self.change.text}"
        return f"{self.name} {self.count:,} of {runs} ({percent(self.rate)}, {interval}){unknown}{change}"


class Headline(BaseModel):
    """The headline of a report: `text` is the first of the `rates`, or the score if `measure` is `score`.

    `score` is that of the judges; where rules alone judged, it is the process score, if there is one. `score_name` is
    its name in the report, and `scores` are both as text, this one first. `change` is that of the judges' score. `note`
    says where the drop lacks what the settings ask for.
    """

    model_config = ConfigDict(frozen=True)

    measure: Measure | Literal["score"]
    text: str
    rates: list[Rate]
    score_name: str
    score: float | None
    scores: list[str] = []
    change: Change | None = None
    note: str | None = None

    @property
    def short(self) -> str:
        """The headline without intervals and changes."""
        if self.measure != "score":
            return self.rates[0].short
        return f"no {self.score_name}" if self.score is None else f"{self.score_name} {self.score:.3f}"

    @property
    def short_change(self) -> str | None:
        """How the headline differs from the baseline, without its interval: `-0.143 against the baseline`."""
        of_score = None if self.is_process else self.change
        change = of_score if self.measure == "score" else self.rates[0].change
        return None if change is None else change.short

    @property
    def is_process(self) -> bool:
        """Whether the score is the process score."""
        return self.score_name == _PROCESS


def headline(
    rates: Sequence[Rate | None],
    overall: Statistic,
    *,
    by_rules_only: bool,
    process: ProcessSummary | None = None,
    settings: HeadlineSettings = HeadlineSettings(),
    gate: GateOutcome | None = None,
) -> Headline:
    """Build the headline.

    Args:
        rates: in the default order of preference, `None` if the outcome is unknown.
        overall: the score of the judges.
        by_rules_only: whether rules alone scored clips.
        process: the process score.
        settings: which of the measures comes first.
        gate: the comparison with the baseline, for the change.
    """
    known = [_with_change(rate, gate) for rate in rates if rate is not None]
    known.sort(key=lambda rate: rate.measure not in _BY.get(settings.by or "", ()))
    name = _BY_RULES if by_rules_only else "overall score"
    change = _change(OVERALL, gate, overall.mean, "adjusted mean over tasks")
    scores = [_judged(name, overall, change)]
    score = overall.mean
    if process is not None:
        scores.append(process.text)
        if by_rules_only and settings.by != "overall" and process.statistic.mean is not None:
            name, score = _PROCESS, process.statistic.mean
            scores.reverse()
    by_score = settings.by == "overall" or not known
    return Headline(
        measure="score" if by_score else known[0].measure,
        text=known[0].text if not by_score else scores[0] if known else f"{scores[0]}; no outcome is known",
        rates=known,
        score_name=name,
        score=score,
        scores=scores,
        change=change,
        note=_missing(known, settings),
    )


def _judged(name: str, overall: Statistic, change: Change | None) -> str:
    """The score of the judges as text."""
    if overall.mean is None:
        return f"no {name}"
    interval = "" if overall.ci_low is None else f", 95% CI {overall.ci_low:.3f} to {overall.ci_high:.3f}"
    against = "" if change is None else f"; {change.text}"
    return f"{name} {overall.mean:.3f} over {runs_of_tasks(overall.n_scored, overall.n_tasks)}{interval}{against}"


def _missing(known: Sequence[Rate], settings: HeadlineSettings) -> str | None:
    """That no run has what the settings put first."""
    wanted = _BY.get(settings.by or "")
    if wanted is None or any(rate.measure in wanted for rate in known):
        return None
    named = {"outcome": "recorded outcomes", "suite": "results of a suite"}
    what = named.get(settings.by or "", f"scores of the criterion {settings.criterion}")
    return f"gate.yaml puts {what} first, but the drop has none"


def rate(
    measure: Measure,
    outcomes_by_task: Mapping[str, Sequence[bool]],
    runs: int,
    settings: HeadlineSettings | None = None,
) -> Rate | None:
    """The rate of a measure over `runs`; `None` if no run has a known outcome."""
    tasks = [outcomes for outcomes in outcomes_by_task.values() if outcomes]
    if not tasks:
        return None
    count, n = sum(map(sum, tasks)), sum(map(len, tasks))
    low, high = rate_interval(tasks)
    return Rate(
        measure=measure,
        count=count,
        n=n,
        n_tasks=len(tasks),
        n_unknown=runs - n,
        rate=count / n,
        ci_low=low,
        ci_high=high,
        criterion=None if settings is None else settings.criterion,
        threshold=None if settings is None else settings.threshold,
    )


def criterion_rate(scores: Iterable[tuple[str, float | None]], runs: int, settings: HeadlineSettings) -> Rate | None:
    """The share of runs that reach the threshold of the configured criterion. `scores` are pairs of task and score."""
    by_task = by_key((task, score >= settings.threshold) for task, score in scores if score is not None)
    measure: Measure = "right_answer" if settings.criterion == RIGHT_ANSWER else "criterion"
    return rate(measure, by_task, runs, settings)


def _with_change(rate: Rate, gate: GateOutcome | None) -> Rate:
    change = _change(_METRICS.get(rate.measure), gate, rate.rate, "mean over tasks")
    return rate if change is None else rate.model_copy(update={"change": change})


def _change(metric: str | None, gate: GateOutcome | None, shown: float | None, compared_as: str) -> Change | None:
    """The change of a metric; its own value is named if it is not the one `shown`."""
    if gate is None:
        return None
    for compared in gate.metrics:
        if compared.metric == metric and compared.baseline is not None and compared.difference is not None:
            return Change(
                baseline=compared.baseline,
                difference=compared.difference,
                ci_low=compared.ci_low,
                ci_high=compared.ci_high,
                confidence=gate.confidence,
                n_tasks=compared.n_tasks,
                compared=_compared(compared_as, compared.current, shown),
            )
    return None


def _compared(name: str, own: float | None, shown: float | None) -> str | None:
    is_another = own is not None and shown is not None and abs(own - shown) > 0.0005
    return f"{name} {own:.3f}" if is_another else None
