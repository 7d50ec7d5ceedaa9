"""The settings of a run that evaluates drops."""

from typing import Literal

import dagster as dg
from pydantic import Field

from evaluation_assets.core.models.budget import Budget


class DropConfig(dg.Config):
    """Settings of an evaluation: preprocessing, budget, split files, judges, and the baseline of the gate.

    `drops` are evaluated by a run without a partition, one after the other. Dagster writes 23 events for each partition
    of a run before it launches it, which takes longer than to evaluate the drop.
    """

    beta_threshold: int = Field(
        default=15, ge=0, description="Maximum number of tool calls; more violate the frequency rule."
    )
    on_violation: Literal["flag", "remove"] = Field(
        default="flag", description="Flag trajectories that violate a rule, or remove them before judging."
    )
    budget_usd: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="US dollars, over all judges, levels and embeddings. Default: no limit.",
    )
    budget_calls: int | None = Field(
        default=None,
        ge=0,
        description="Model calls, over all judges, levels and embeddings (each text is one). Default: no limit.",
    )
    split_size: int = Field(default=0, ge=0, description="Records per numbered file; 0 writes one file only.")
    baseline: str = Field(default="", description="Baseline file to compare with. Default: the suite's baseline.")
    ask_also: list[str] = Field(default=[], description="Judges that panel.yaml leaves out of `everyday`, to ask too.")
    drops: list[str] = Field(default=[], description="Drops of a run without a partition.")

    @property
    def has_budget(self) -> bool:
        """Whether there is a limit."""
        return self.budget_usd is not None or self.budget_calls is not None

    def budget(self) -> Budget:
        """A budget with these limits."""
        return Budget(self.budget_usd, limit_calls=self.budget_calls)
