"""Ask a judge for the names of failure groups."""

import uuid
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.naming import NotNamed, group_chain, name_in
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.sections.failure_groups.grouping import ANY_TOOL, kind_title
from evaluation_assets.core.system.installation import Installation

if TYPE_CHECKING:
    from evaluation_assets.core.judging.model_judge import ModelJudge

_EXAMPLES = 8
"""Findings that a judge is shown, each with other evidence."""

Evidence = Mapping[str, Sequence[str]]
"""What findings of each group say, by its ID."""


def evidence_of(home: Installation, groups: Sequence[Row]) -> Evidence:
    """The first different texts of the findings of groups."""
    found: dict[str, dict[str, None]] = {row["group_id"]: {} for row in groups}
    for row in home.whole_table("grouped_findings").rows(["group_id", "evidence"]):
        if row["group_id"] in found:
            found[row["group_id"]][row["evidence"]] = None
    return {group: list(islice(texts, _EXAMPLES)) for group, texts in found.items()}


def naming_questions(groups: Sequence[Row], evidence: Evidence) -> list[Chain]:
    """A question for each group."""
    return [
        group_chain(
            row["group_id"],
            kind_title(row["kind"]),
            None if row["tool"] == ANY_TOOL else row["tool"],
            evidence[row["group_id"]],
        )
        for row in groups
    ]


async def names_by(
    judge: "ModelJudge", groups: Sequence[Row], evidence: Evidence, budget: Budget
) -> dict[str, str | NotNamed]:
    """The name of each group by its ID, or why the judge gives none."""
    found: dict[str, str | NotNamed] = {}
    async with judge.opened(uuid.uuid4().hex, budget) as ready:
        async for (judgement,) in judge_chains(ready, naming_questions(groups, evidence)):
            group = judgement.subject.trajectory.id
            try:
                found[group] = name_in(judgement.verdict, evidence[group])
            except NotNamed as problem:
                found[group] = problem
    return found
