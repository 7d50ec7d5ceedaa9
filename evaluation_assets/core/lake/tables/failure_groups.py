"""Tables of failures that are the same in many runs."""

from evaluation_assets.core.lake.tables.model import FLOAT, INT, NAME, NAMES, TEXT, Column, Table, records
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

_GROUP = Column("group_id", NAME, "ID of the group, which it keeps when runs are added.")

GROUPED_FINDINGS = Table(
    "grouped_findings",
    "a finding with its failure group; a run that failed without any is one of kind `unexplained_failure`",
    (
        _GROUP,
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column("kind", NAME, "Kind of the finding."),
        Column("severity", NAME, "`HIGH`, `MEDIUM` or `LOW`."),
        Column("tool", NAME, "Tool of the call at its step."),
        Column("clip_index", INT, "Number of its clip."),
        Column("start", INT, "Offset in the trajectory's text at which the evidence starts."),
        Column("end", INT, "Offset at which the evidence ends (exclusive)."),
        Column("evidence", TEXT, "Quotation of the run, or a message; at most 300 characters."),
    ),
    whole=True,
)
FAILURE_GROUPS = Table(
    "failure_groups",
    "one failure that runs of any drops have in common",
    (
        _GROUP,
        Column("name", NAME, "Kind, tool and words, for people; behind a dash what a judge or a person named it."),
        Column("kind", NAME, "Kind of the findings; those that follow from them may have others."),
        Column("tool", NAME, "Tool in which they gather; `any tool`: calls of any; null: they are at no call."),
        Column("tools", NAMES, "Tools of its findings."),
        Column("words", NAME, "Words of their evidence, where many have the same; null: they differ in it."),
        Column("severity", NAME, "Of the gravest finding."),
        Column(
            "state",
            NAME,
            "`new` or `grown` (the last drop of an agent in a suite has the first runs, or a larger share of them, "
            "beyond chance), `open`, `acknowledged`, `resolved`, or `reopened` (seen in a drop after it was resolved).",
        ),
        Column("changed_in", NAME, "Drop in which it is `new` or has `grown`."),
        Column("n_findings", INT, "Findings."),
        Column("n_runs", INT, "Runs with such a finding."),
        Column("n_tasks", INT, "Tasks of these runs."),
        Column("share", FLOAT, "Share of all runs of all drops."),
        Column("ci_low", FLOAT, "Lower end of the 95% interval of the share, clustered by task."),
        Column("ci_high", FLOAT, "Upper end of the 95% interval of the share, clustered by task."),
        Column("first_drop", NAME, "First drop that has it, in the order of the runs."),
        Column("last_drop", NAME, "Last drop that has it."),
        Column("versions", NAMES, "Agents with their versions that have it, in this order."),
        Column("success_with", FLOAT, "Success rate of the runs that have it, 0..1."),
        Column("success_without", FLOAT, "Success rate of the other runs."),
        Column(
            "by_drop",
            records(drop=NAME, n_runs=INT, n_affected=INT),
            "For each drop its runs, and those that have it.",
        ),
    ),
    whole=True,
)

TABLES = (GROUPED_FINDINGS, FAILURE_GROUPS)
