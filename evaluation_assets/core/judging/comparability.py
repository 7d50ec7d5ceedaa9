"""The comparability key: evaluations with the same judges, rubrics and settings are comparable."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Rubrics


def comparability(
    judges: Sequence[Judge], rubrics: Rubrics, quorum: int, settings: Mapping[str, Any]
) -> dict[str, str]:
    """The comparability key, part by part: judges, their selections, rubrics, quorum, preprocessing settings."""
    return {
        **{f"judge {judge.name}": f"{judge.provider} {judge.model} {judge.version}" for judge in judges},
        **{f"selection of {judge.name}": own for judge in judges if (own := judge.selection.described())},
        **{f"rubric {name}": version for name, version in rubrics.versions().items()},
        "quorum": str(quorum),
        **{f"preprocessing {name}": str(value) for name, value in sorted(settings.items())},
    }
