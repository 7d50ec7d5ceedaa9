"""What a report says about a drop, as data: one model that JSON, Markdown and HTML are made from."""

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.drops import Sidecar


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Statistic(_Model):
    """A criterion over subjects, 0..1. The mean is over the `n_scored` of `n_total` subjects that have a score."""

    mean: float | None
    std: float | None
    min: float | None
    median: float | None
    max: float | None
    n_scored: int
    n_total: int


class CriterionSummary(_Model):
    """One criterion at one level."""

    level: str
    criterion: str
    statistic: Statistic


class ToolSummary(_Model):
    """All clips of one tool type. `calls` counts them by how the call ended: ok, error, none."""

    tool_type: str
    clip_count: int
    scored_clips: int
    overall: float | None
    criteria: dict[str, Statistic]
    calls: dict[str, int]


class JudgeSummary(_Model):
    """One judge: outcomes by level, and what it cost.

    Tokens and cost are sums over the verdicts that have them, `None` where none has. With `unpriced_verdicts` the cost
    is only a lower bound.
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
    errors: dict[str, int]


class Opinion(_Model):
    """What one judge said about one clip."""

    judge: str
    outcome: str
    scores: dict[str, float | None]
    summary: str | None
    reasoning: str | None
    error: str | None


class ClipSummary(_Model):
    """A clip with its score (mean over criteria) and every judge's opinion. `excerpt` is cut in the middle."""

    trajectory_id: str
    clip_index: int
    tool_type: str
    tool_name: str | None
    call_status: str
    score: float
    excerpt: str
    opinions: list[Opinion]


class TrajectorySummary(_Model):
    """One trajectory: its scores by criterion (`overall` is the clip-weighted mean) and what is special about it."""

    trajectory_id: str
    task_id: str
    task: str
    success: bool | None
    n_tool_calls: int
    overall: float | None
    scores: dict[str, float | None]
    flags: list[str]
    repairs: int


class RejectedRecord(_Model):
    """A record that was not judged."""

    source: str
    line: int | None
    stage: str
    reason: str
    detail: str
    excerpt: str


class RepairedTag(_Model):
    """One unbalanced tag and how it was read."""

    trajectory_id: str
    tag: str
    offset: int
    action: str


class Records(_Model):
    """Where every record went: `total = kept + removed + unreadable`."""

    total: int
    kept: int
    removed: dict[str, int]
    unreadable: dict[str, int]
    repaired: int
    flags: dict[str, int]
    kept_share: float | None


class DropReport(_Model):
    """Everything a report says. All scores are 0..1; `None` is missing, never 0."""

    drop: str
    sidecar: Sidecar
    comparability: dict[str, str]
    records: Records
    recorded_success: int
    recorded_outcomes: int
    overall: Statistic
    total_clips: int
    scored_clips: int
    criteria: list[CriterionSummary]
    tools: list[ToolSummary]
    judges: list[JudgeSummary]
    worst_clips: list[ClipSummary]
    trajectories: list[TrajectorySummary]
    trajectories_total: int
    rejected: list[RejectedRecord]
    rejected_total: int
    repairs: list[RepairedTag]
    repairs_total: int
