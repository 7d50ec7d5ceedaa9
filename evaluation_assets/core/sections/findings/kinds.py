"""The vocabulary of findings: every kind of thing that can go wrong in a run."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.sections.findings.finding import Severity
from evaluation_assets.core.text.shipped_yaml import shipped_yaml

JUDGED = frozenset({"user_correction", "user_re_ask", "contradicted_answer", "no_progress", "task_derailment"})
"""Kinds that verdicts of judges on turns and sessions make, or add to; all others are found without a judge."""

AgentRxCategory = Literal[
    "plan_adherence_failure",
    "invention_of_new_information",
    "invalid_invocation",
    "misinterpretation_of_tool_output",
    "intent_plan_misalignment",
    "underspecified_user_intent",
    "intent_not_supported",
    "guardrails_triggered",
    "system_failure",
]


class Kind(BaseModel):
    """A kind of finding.

    Attributes:
        title: Name for people.
        meaning: What it says, in one sentence.
        example: An instance of it.
        severity: Severity of findings without further evidence.
        mast: Failure modes of MAST that it is an instance of; `null` if none fits.
        agentrx: Failure category of AgentRx; `null` if none fits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    meaning: str
    example: str
    severity: Severity
    mast: tuple[str, ...] | None
    agentrx: AgentRxCategory | None


@cache
def kinds() -> Mapping[str, Kind]:
    """All kinds by name, in the order of the file."""
    entries = shipped_yaml("evaluation_assets.core.sections.findings", "kinds.yaml")
    return {name: Kind.model_validate(kind) for name, kind in entries.items()}
