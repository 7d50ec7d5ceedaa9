"""The data model of a report, which JSON, Markdown and HTML are rendered from."""

from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.judging.model_use import bound
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.report.agent_use import AgentUse
from evaluation_assets.core.report.failure_groups.failure_group_report import FailureGroupsSummary
from evaluation_assets.core.report.findings.process_summary import ProcessSummary, SuccessRelation
from evaluation_assets.core.report.gate.score_history import Trend
from evaluation_assets.core.report.headline import Headline
from evaluation_assets.core.report.judges.judges_report import PanelSummary
from evaluation_assets.core.report.judges.sampled_judges import SampledMean
from evaluation_assets.core.report.scores.distributions import Statistic
from evaluation_assets.core.report.sessions.session_report import AgentRank, SessionsSummary
from evaluation_assets.core.scoring.effective_number import EffectiveJudges
from evaluation_assets.core.sections.coding_work.summary import CodingSummary
from evaluation_assets.core.sections.constraints.summary import ConstraintsSummary
from evaluation_assets.core.sections.findings.claim_counts import ClaimCounts
from evaluation_assets.core.sections.findings.summary import FindingsSummary
from evaluation_assets.core.suites.call_metrics import TrialRate
from evaluation_assets.core.suites.failure_patterns import ToolTotals
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import first_of, runs_of_tasks
from evaluation_assets.core.traces.formats.import_report import ImportSummary


class Place(Frozen):
    """Where a figure comes from: a trajectory, or one clip in it."""

    trajectory_id: str
    clip_index: int | None = None


class CriterionSummary(Frozen):
    """Statistics of one criterion at one level, and the effective number of judges if there are several.

    `lowest` is the subject with the lowest score, the first of several.
    """

    level: str
    criterion: str
    statistic: Statistic
    effective_judges: EffectiveJudges | None = None
    lowest: Place | None = None

    @property
    def about(self) -> str:
        """The level, and how many subjects were scored."""
        return f"{self.level}, {self.statistic.n_scored} of {self.statistic.n_total} scored"


class ToolSummary(Frozen):
    """All clips of one tool type. `calls` counts them by how the call ended: ok, error, none.

    `scores` describes the clips' scores, each the mean of its scored criteria; `overall` is their mean, with its 95%
    interval over the `n_tasks` tasks, and `lowest` the clip with the lowest. `tools` are named, most clips first.
    """

    tool_type: str
    clip_count: int
    scored_clips: int
    overall: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n_tasks: int | None = None
    criteria: dict[str, Statistic]
    calls: dict[str, int]
    scores: Statistic | None = None
    lowest: Place | None = None
    tools: list[str] = []

    @property
    def title(self) -> str:
        """The names of the tools, then the type in brackets where it is another name: `google_search (web_search)`."""
        has_own_names = self.tools not in ([], [self.tool_type])
        return f"{first_of(self.tools, 4)} ({self.tool_type})" if has_own_names else self.tool_type

    @property
    def rubric_key(self) -> str:
        """Equal for tool types with the same criteria."""
        return " ".join(self.criteria)


class JudgeSummary(Frozen):
    """One judge: outcomes by level (`canary`: clips that detect whether the judge changed), and its cost.

    Tokens and cost are sums over the verdicts that have them; `None` if none has. With `unpriced_verdicts` the cost is
    a lower bound; with `uncounted_verdicts` the tokens are, and the cost is an upper one. `shortfall` explains in one
    line why many answers are missing and what to do. `redacted` counts by kind the values that were replaced in the
    texts it was asked about; a value counts in each question that it is in. `success` relates the mean of its scores of
    a run to recorded outcomes; that of rules stands with the process score.
    """

    judge: str
    provider: str
    model: str
    outcomes: dict[str, dict[str, int]]
    share_seen: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unpriced_verdicts: int
    uncounted_verdicts: int
    errors: dict[str, int]
    shortfall: str | None = None
    redacted: dict[str, int] = {}
    success: SuccessRelation | None = None

    @property
    def was_asked(self) -> bool:
        """Whether it has a verdict, if only one that failed."""
        return any(self.outcomes.values())

    @property
    def bound(self) -> str:
        """What its cost is, before the number; recorded verdicts state what they cost, if not their tokens."""
        return bound(self.unpriced_verdicts, self.uncounted_verdicts if self.provider else 0)

    def count(self, *outcomes: str) -> int:
        """Its verdicts with one of these outcomes."""
        return sum(own.get(outcome, 0) for own in self.outcomes.values() for outcome in outcomes)


class ClipVerdict(Frozen):
    """One judge's verdict on one clip; one per sample if the judge has repeats."""

    judge: str
    sample: int
    outcome: str
    scores: dict[str, float | None]
    summary: str | None
    reasoning: str | None
    error: str | None


class ClipSummary(Frozen):
    """A clip with its score (mean over criteria) and every judge's verdict. `excerpt` is cut in the middle."""

    trajectory_id: str
    clip_index: int
    tool_type: str
    tool_name: str | None
    call_status: str
    score: float
    excerpt: str
    opinions: list[ClipVerdict]

    @property
    def tool(self) -> str:
        """The name of the tool; of a clip without a call its type."""
        return self.tool_name or self.tool_type


class TrajectorySummary(Frozen):
    """One trajectory: its scores by criterion (`overall` is the mean of its clips' scores) and its flags.

    `correct`: by the recorded outcome, the suite or the criterion that the headline counts; `None` if unknown.
    `predicted`: the predicted outcome where none is recorded, with the bound on how well it is predicted.
    """

    trajectory_id: str
    task_id: str
    task: str
    success: bool | None
    correct: bool | None = None
    predicted: str | None = None
    n_tool_calls: int
    overall: float | None
    scores: dict[str, float | None]
    flags: list[str]
    repairs: int


class RejectedRecord(Frozen):
    """A record that was not judged."""

    source: str
    line: int | None
    stage: str
    reason: str
    detail: str
    excerpt: str


class RepairedTag(Frozen):
    """One unbalanced tag and how it was repaired."""

    trajectory_id: str
    tag: str
    offset: int
    action: str


class Records(Frozen):
    """Record counts: `total = kept + removed + unreadable`."""

    total: int
    kept: int
    removed: dict[str, int]
    unreadable: dict[str, int]
    repaired: int
    flags: dict[str, int]
    kept_share: float | None


class CaseSummary(Frozen):
    """One run of a case. `flagged`: it failed, or its score is low."""

    case_id: str
    trajectory_id: str
    category: str | None
    passed: bool
    score: float | None
    answer_outcome: str | None
    n_expected: int
    n_calls: int
    latency_ms: float | None
    issues: list[str]
    flagged: bool


class CategorySummary(Frozen):
    """The runs of one category of cases. `scores` describes the scores of the runs; intervals are over cases."""

    category: str | None
    cases: int
    runs: int
    passed: int
    pass_rate: float | None
    score: float | None
    precision: float | None
    recall: float | None
    parameter_accuracy: float | None
    flagged: bool
    pass_rate_low: float | None = None
    pass_rate_high: float | None = None
    score_low: float | None = None
    score_high: float | None = None
    scores: Statistic | None = None


class PatternSummary(Frozen):
    """A class of issues with its evidence and a recommendation."""

    failure_class: str
    kinds: dict[str, int]
    n_runs: int
    n_failed_runs: int
    case_ids: list[str]
    tool_names: list[str]
    parameter_names: list[str]
    examples: list[str]
    recommendation: str


class ToolUse(Frozen):
    """Results of the drop's runs on its suite. `problem` says why the suite could not be used.

    `pass_rate` excludes runs that `failed` because of the infrastructure. Lists are truncated, their totals are not;
    `cases` starts with runs that did not pass and flagged runs.
    """

    suite: str
    problem: str | None
    min_pass_rate: float | None
    weights: dict[str, float]
    cases_total: int
    runs: int
    passed: int
    pass_rate: float | None
    metrics: dict[str, Statistic]
    completed: int
    answers: dict[str, int]
    calls: int
    latency_ms: Statistic
    cost_usd: float | None
    unpriced_runs: int
    trials: list[TrialRate]
    categories: list[CategorySummary]
    tools: list[ToolTotals]
    patterns: list[PatternSummary]
    cases: list[CaseSummary]
    failed: list[str]
    failed_total: int
    not_run: list[str]
    not_run_total: int
    without_case: list[str]
    without_case_total: int
    incomplete: list[str]
    incomplete_total: int


class BlockingCheck(Frozen):
    """A failed check that blocks the run of the drop: its name, and what it found."""

    name: str
    description: str


class DropReport(Frozen):
    """The complete data of a report. All scores are 0..1; `None` is missing, never 0. `tool_use` needs a suite.

    `recorded_trials` are rates over repeated runs of a task by recorded outcomes. `process` is the process score,
    `overall` the score of the judges. `drawn` says which runs the sidecar chose, `held_back` what the limit for the day
    kept the judges from. `first_words` are of the tasks of runs with random IDs. `damaged_tables` are files of other
    drops that cannot be read; the history is without them. `previous_drop` is that of the suite before it.
    `participants` are agent, version and model where all runs agree. `agent_use` is `None` in old reports.
    `not_compared` says why there is no baseline. `broken_tools` never worked, `failed_calls` says which failed most.
    """

    drop: str
    headline: Headline
    failed_checks: list[BlockingCheck] = []
    findings: FindingsSummary | None = None
    claims: list[ClaimCounts] = []
    failure_groups: FailureGroupsSummary | None = None
    damaged_tables: list[str] = []
    sidecar: Sidecar
    participants: dict[str, str] = {}
    comparability: dict[str, str]
    reading: ImportSummary
    agent_use: AgentUse | None = None
    drawn: str | None = None
    held_back: str | None = None
    first_words: dict[str, str] = {}
    records: Records
    recorded_success: int
    recorded_outcomes: int
    recorded_trials: list[TrialRate] = []
    overall: Statistic
    process: ProcessSummary | None = None
    total_clips: int
    clips_asked: int
    scored_clips: int
    criteria: list[CriterionSummary]
    tools: list[ToolSummary]
    broken_tools: list[str] = []
    failed_calls: str = ""
    judges: list[JudgeSummary]
    panel: PanelSummary | None = None
    sampled: list[SampledMean] = []
    worst_clips: list[ClipSummary]
    trajectories: list[TrajectorySummary]
    trajectories_total: int
    tasks_total: int | None = None
    sessions: SessionsSummary | None
    coding: CodingSummary | None = None
    constraints: ConstraintsSummary | None = None
    rejected: list[RejectedRecord]
    rejected_total: int
    repairs: list[RepairedTag]
    repairs_total: int
    tool_use: ToolUse | None
    gate: GateOutcome | None = None
    not_compared: str | None = None
    history: list[Trend] = []
    previous_drop: str | None = None
    agent_ranks: list[AgentRank] = []

    @property
    def shown_score(self) -> Statistic:
        """The score that the headline names, over all runs."""
        return self.process.statistic if self.process is not None and self.headline.is_process else self.overall

    @property
    def scores_of_runs(self) -> list[CriterionSummary]:
        """The criteria of runs and answers where no model judges clips, so that no score above has what models say."""
        is_paid = any(judge.was_asked and judge.provider in PROVIDERS for judge in self.judges)
        if not is_paid or not (self.overall.mean is None or self.headline.is_process):
            return []
        own = self.own_criteria
        return [each for each in self.criteria if each.level not in ("clip", "category") and each not in own]

    @property
    def own_criteria(self) -> list[CriterionSummary]:
        """The criteria that are not of the shipped rubrics."""
        shipped = load_rubrics().criteria
        return [each for each in self.criteria if (each.level, each.criterion) not in shipped]

    @property
    def of_runs(self) -> str:
        """The runs that are judged, as text: `5 runs of 4 tasks`."""
        return runs_of_tasks(self.trajectories_total, self.tasks_total)

    @property
    def about(self) -> dict[str, object]:
        """What the drop is of, by label: its sidecar, and what the trajectories agree on where that says nothing."""
        sidecar, recorded = self.sidecar, self.participants
        named = {
            "suite": sidecar.suite,
            "agent": sidecar.agent or recorded.get("agent"),
            "agents": None if sidecar.agent else recorded.get("agents"),
            "version": sidecar.agent_version or recorded.get("agent_version"),
            "versions": None if sidecar.agent_version else recorded.get("versions"),
            "model": sidecar.model or recorded.get("model"),
        }
        every = {**named, **sidecar.labels, **(sidecar.model_extra or {})}
        return {label: value for label, value in every.items() if value is not None}
