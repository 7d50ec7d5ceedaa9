"""Which judges are asked about canary clips."""

from collections.abc import Sequence

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.model_judge import ModelJudge


def canary_judges(judges: Sequence[Judge]) -> list[Judge]:
    """The judges that may change unnoticed. Rules and recorded verdicts do not."""
    return [judge for judge in judges if isinstance(judge, ModelJudge)]
