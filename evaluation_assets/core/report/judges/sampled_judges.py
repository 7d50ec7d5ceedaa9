"""What judges that are asked about a sample of the trajectories would give to all of them."""

from collections.abc import Iterator, Mapping
from statistics import fmean

from evaluation_assets.core.judging.selection import Selections
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.scoring.intervals import sampled_mean
from evaluation_assets.core.system.frozen import Frozen


class SampledMean(Frozen):
    """The mean of a sampled judge on clips or whole trajectories.

    The 95% interval is that of its mean over all `n_trajectories`, of which it scored `n_scored`.
    """

    judge: str
    level: str
    share: float
    mean: float
    ci_low: float | None
    ci_high: float | None
    n_scored: int
    n_trajectories: int

    @property
    def text(self) -> str:
        """In words: `0.612 on clips of 21 of 100 trajectories; on all of them 0.571 to 0.653 (95% CI)`."""
        what = "clips of " if self.level == "clip" else ""
        interval = "" if self.ci_low is None else f"; on all of them {self.ci_low:.3f} to {self.ci_high:.3f} (95% CI)"
        return f"{self.mean:.3f} on {what}{self.n_scored} of {self.n_trajectories} runs{interval}"


def sampled_means(
    n_trajectories: int, selections: Selections, clips: Mapping[str, Stored], trajectories: Mapping[str, Stored]
) -> Iterator[SampledMean]:
    """The means of the judges whose sample is not everything; the verdict tables are by judge."""
    for judge, selection in selections.by_judge.items():
        if selection.share == 1:
            continue
        for level, tables in (("clip", clips), ("trajectory", trajectories)):
            values: list[float] = []
            clusters: list[str] = []
            columns = ["trajectory_id", "outcome", "scores", *(["subject"] if level == "trajectory" else [])]
            for row in tables[judge].rows(columns):
                known = [score for score in (row["scores"] or {}).values() if score is not None]
                if row["outcome"] == "scored" and known and row.get("subject", level) == level:
                    values.append(fmean(known))
                    clusters.append(row["trajectory_id"])
            if values:
                mean = sampled_mean(values, clusters, population=n_trajectories)
                yield SampledMean(
                    judge=judge,
                    level=level,
                    share=selection.share,
                    mean=mean.mean,
                    ci_low=None if mean.low is None else max(0.0, mean.low),
                    ci_high=None if mean.high is None else min(1.0, mean.high),
                    n_scored=mean.n,
                    n_trajectories=n_trajectories,
                )
