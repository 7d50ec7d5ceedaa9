"""Failed runs, regressions and failure groups as JSON with a `text`, which Slack-compatible webhooks display."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation_assets.core.text.counted import counted, percent
from evaluation_assets.core.text.plain_text import for_chat

_MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that failed with severity ERROR, its description, and the drop that it looked at."""

    asset: str
    check: str
    description: str | None
    drop: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The report of a drop: what it opens with, and its URL or path."""

    headline: str
    address: str


def message(
    job: str,
    drop: str | None,
    run_id: str,
    checks: Sequence[FailedCheck],
    problem: str | None,
    gate: str,
    report: WrittenReport | None = None,
) -> dict[str, Any]:
    """Build the JSON to send. `kind` is `regression` if the check named `gate` failed the run.

    `report` is the one that the run wrote. A run of many drops has no `drop`: its failed checks name theirs, after the
    `problem`, which names the drops that were not evaluated.
    """
    fallen = [drop or check.drop or "a drop" for check in checks if check.check == gate]
    regressed = bool(fallen)
    of_drops = drop is None and any(check.drop for check in checks)
    told = [
        f"{f'{check.drop}: ' if of_drops else ''}{check.check}: {check.description or 'failed'}" for check in checks
    ]
    words = "; ".join([*([problem] if of_drops and problem else []), *told]) or problem or "failed"
    where = f" of {drop}" if drop else ""
    head = f"Regression in {', '.join(fallen)}" if regressed else f"Run {job}{where} failed"
    first = f" ({report.headline})" if report else ""
    link = f"; report: {report.address}" if report else ""
    return {
        "text": for_chat(f"{head}{first}: {words}"[: _MAX_TEXT - len(link)] + link),
        "kind": "regression" if regressed else "failure",
        "job": job,
        "drop": drop,
        "headline": report.headline if report else None,
        "report": report.address if report else None,
        "run_id": run_id,
        "checks": [asdict(check) for check in checks],
    }


def groups_message(groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Build the JSON to send about rows of `failure_groups` that are new or have grown in a drop."""
    return {
        "text": for_chat("; ".join(map(_sentence, groups))[:_MAX_TEXT]),
        "kind": "failure_groups",
        "groups": [
            {name: row[name] for name in ("group_id", "name", "state", "changed_in", "share")} for row in groups
        ],
    }


def _sentence(row: Mapping[str, Any]) -> str:
    (own,) = (each for each in row["by_drop"] if each["drop"] == row["changed_in"])
    name = f"{row['name']} ({row['group_id']})"
    head = f"New failure group {name}" if row["state"] == "new" else f"Failure group {name} has grown"
    return (
        f"{head}: {own['n_affected']} of {counted(own['n_runs'], 'run')} of {own['drop']}, "
        f"{percent(row['share'])} of the runs of all drops"
    )
