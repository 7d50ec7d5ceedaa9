"""One judge of a report: the outcomes of its questions, what its scores are worth, and what they cost."""

from array import array
from collections import Counter
from collections.abc import Mapping
from math import fsum
from statistics import fmean

from evaluation_assets.core.intake.facts import VerdictFacts
from evaluation_assets.core.judging.panel import EMBEDDED
from evaluation_assets.core.judging.shortfall import COLUMNS, Answers
from evaluation_assets.core.judging.tally import has_reply
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.findings.process_summary import SuccessRelation
from evaluation_assets.core.report.report import JudgeSummary
from evaluation_assets.core.scoring.relation_to_success import relation
from evaluation_assets.core.text.nullable import mean_of

_READ = ["provider", "model", "ledger_key", "share_seen", "trajectory_id", "scores"]


def judge_summary(
    judge: str, tables: DropTables, tasks: Mapping[str, str], outcomes_of_runs: Mapping[str, bool]
) -> JudgeSummary:
    """Sum up the verdicts of one judge, at all levels and on canary clips.

    Args:
        judge: its name.
        tables: the tables of the drop.
        tasks: the task of each run.
        outcomes_of_runs: whether runs succeeded, where that is recorded.
    """
    outcomes: dict[str, Counter[str]] = {}
    answers = Answers()
    identity: Row = {"provider": "", "model": ""}
    sums: dict[str, array[float]] = {}
    unpriced = uncounted = 0
    replies: set[str] = set()
    redacted: Counter[str] = Counter()
    of_runs: dict[str, array[float]] = {}
    paid = ["input_tokens", "output_tokens", "cost_usd"]
    for level, by_judge in {**tables.verdicts, "canary": tables.canary_verdicts}.items():
        if judge not in by_judge:
            continue
        of_drop = level != "canary"  # canary clips cost money, but are not part of the drop
        redacted.update(VerdictFacts.of(by_judge[judge]).redacted)
        counts = outcomes.setdefault(level, Counter())
        for row in by_judge[judge].rows([*_READ, *COLUMNS, *paid]):
            identity = row
            counts[row["outcome"]] += 1
            if of_drop:
                answers.add(row)
                is_related = row["provider"] != EMBEDDED and row["trajectory_id"] in outcomes_of_runs
                if is_related and (score := mean_of(dict(row["scores"]).values())) is not None:
                    of_runs.setdefault(row["trajectory_id"], array("d")).append(score)
            if has_reply(row):
                unpriced += row["cost_usd"] is None
                uncounted += row["input_tokens"] is None or row["output_tokens"] is None
            # One reply gives several verdicts where the same question is asked again.
            is_new = row["ledger_key"] is None or row["ledger_key"] not in replies
            replies.add(row["ledger_key"] or "")
            for column in [*(paid if is_new else ()), *(["share_seen"] if of_drop else ())]:
                if row[column] is not None:
                    sums.setdefault(column, array("d")).append(row[column])
    tokens = {column: int(sum(sums[column])) if column in sums else None for column in paid[:2]}
    return JudgeSummary(
        judge=judge,
        provider=identity["provider"],
        model=identity["model"],
        outcomes={level: dict(sorted(counts.items())) for level, counts in outcomes.items()},
        share_seen=fmean(sums["share_seen"]) if "share_seen" in sums else None,
        input_tokens=tokens["input_tokens"],
        output_tokens=tokens["output_tokens"],
        cost_usd=fsum(sums["cost_usd"]) if "cost_usd" in sums else None,
        unpriced_verdicts=unpriced,
        uncounted_verdicts=uncounted,
        errors=dict(sorted(answers.kinds.items())),
        shortfall=answers.shortfall(judge),
        redacted=dict(sorted(redacted.items())),
        success=_success(of_runs, tasks, outcomes_of_runs),
    )


def _success(
    scores: Mapping[str, "array[float]"], tasks: Mapping[str, str], outcomes: Mapping[str, bool]
) -> SuccessRelation | None:
    """The relation of the mean score that it gave in a run to whether the run succeeded."""
    values = [fmean(own) for own in scores.values()]
    related = relation(values, [outcomes[run] for run in scores], [tasks[run] for run in scores])
    return None if related is None else SuccessRelation.of(related)
