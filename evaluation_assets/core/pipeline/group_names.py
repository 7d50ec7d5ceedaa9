"""Ask a judge for the names of failure groups."""

from collections.abc import Mapping, Sequence
from itertools import islice

from evaluation_assets.core.judging.asking import Step, judge_all
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.naming import NotNamed, group_chain, name_in
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.failure_groups.grouping import ANY_TOOL, kind_title
from evaluation_assets.core.system.installation import Installation

_EXAMPLES = 8
"""Findings that a judge is shown, each with other evidence."""

Evidence = Mapping[str, Sequence[str]]
"""What findings of each group say, by its ID."""


def evidence_of(home: Installation, groups: Sequence[Row]) -> Evidence:
    """The first different texts of the findings of groups."""
    by_group: dict[str, dict[str, None]] = {row["group_id"]: {} for row in groups}
    for row in home.whole_table("grouped_findings").rows(["group_id", "evidence"]):
        if row["group_id"] in by_group:
            by_group[row["group_id"]][row["evidence"]] = None
    return {group: list(islice(texts, _EXAMPLES)) for group, texts in by_group.items()}


async def names_by(ready: Judge, step: Step, groups: Sequence[Row], evidence: Evidence) -> dict[str, str | NotNamed]:
    """The name of each group by its ID, or why an open judge gives none."""
    chains = (
        group_chain(
            row["group_id"],
            kind_title(row["kind"]),
            None if row["tool"] == ANY_TOOL else row["tool"],
            evidence[row["group_id"]],
        )
        for row in groups
    )
    names: dict[str, str | NotNamed] = {}
    async for (judgement,) in judge_all(ready, chains, step):
        group = judgement.subject.trajectory.id
        try:
            names[group] = name_in(judgement.verdict, evidence[group])
        except NotNamed as problem:
            names[group] = problem
    return names
