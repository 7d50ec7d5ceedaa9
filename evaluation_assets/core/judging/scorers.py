"""What scores drops. Evaluations with the same scorers and settings are comparable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import Panel, judges_of
from evaluation_assets.core.judging.rubrics.model import Rubrics, load_rubrics
from evaluation_assets.core.system.installation import Installation


@dataclass(frozen=True, slots=True)
class Scorers:
    """The judges, the rubrics they judge by, the number of verdicts that a mean needs, and the stages of a cascade."""

    judges: Sequence[Judge]
    rubrics: Rubrics
    quorum: int
    stages: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, home: Installation, panel: Panel) -> Self:
        """The judges of a panel, and the rubrics in use."""
        return cls(judges_of(panel, home.ledger_url), load_rubrics(home.rubrics), panel.quorum, panel.stages)

    def comparability(self, settings: Mapping[str, Any]) -> dict[str, str]:
        """The comparability key, part by part: judges, their selections, stages, rubrics, quorum, preprocessing."""
        return {
            **{f"judge {judge.name}": f"{judge.provider} {judge.model} {judge.version}" for judge in self.judges},
            **{f"selection of {judge.name}": own for judge in self.judges if (own := judge.selection.described())},
            **{f"rubric {name}": version for name, version in self.rubrics.versions().items()},
            **{f"stage of {judge}": str(number) for judge, number in self.stages.items()},
            "quorum": str(self.quorum),
            **{f"preprocessing {name}": str(value) for name, value in sorted(settings.items())},
        }
