"""The runs of one agent version of a drop that has several, as a drop: `DROP@VERSION`."""

from collections.abc import Sequence
from dataclasses import replace

from evaluation_assets.core.gating.participants import Participants, version_of
from evaluation_assets.core.gating.task_metrics import (
    DropMetrics,
    case_metrics,
    metric_rows,
    metrics_in,
    read_metrics,
    without_tasks,
)
from evaluation_assets.core.intake.facts import MetricsFacts
from evaluation_assets.core.scoring.analysed_sessions import session_metrics
from evaluation_assets.core.sections.findings.summary import findings_by_kind
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets.core.traces.trajectories.model import Agent

_AT = "@"


class UnknownVersion(UserError, LookupError):
    """A drop has no runs of a version; the message names those that it has."""


def drop_and_version(home: Installation, name: str) -> tuple[str, str | None]:
    """The drop and the version that a name means: the evaluated drop with the longest name that it begins with."""
    if _AT not in name or home.table(name, "task_metrics").exists:
        return name, None
    ends = [end for end, character in enumerate(name) if character == _AT]
    known = (end for end in reversed(ends) if end and home.table(name[:end], "task_metrics").exists)
    end = next(known, ends[-1])
    return name[:end], name[end + 1 :]


def names_of_versions(home: Installation, drop: str) -> list[str]:
    """The names of the versions of a drop that has several, as in `runs@2.0`."""
    return [f"{drop}{_AT}{version}" for version in MetricsFacts.of(home.table(drop, "task_metrics")).versions]


def metrics_of_version(home: Installation, drop: str, version: str) -> DropMetrics:
    """The metrics of the runs of a version. Scores are left out if a judge is kept out of them.

    Raises:
        UnknownVersion: the drop does not have this version.
    """
    stored = home.table(drop, "task_metrics")
    whole = without_tasks(drop, stored)
    known = MetricsFacts.of(stored).versions
    if not known and version == whole.agent_version:
        return read_metrics(drop, stored)
    if version not in known:
        of_drop = first_of([*known, *filter(None, [whole.agent_version])], 10) or "none is known"
        raise UnknownVersion(f"{drop} has no version {version!r}; versions: {of_drop}")
    runs: set[str] = set()

    def counts(run: str, agents: Sequence[Agent]) -> bool:
        if is_of_version := version_of(agents) == version:
            runs.add(run)
        return is_of_version

    rows = metric_rows(
        drop,
        home.table(drop, "preprocessed_trajectories"),
        () if whole.kept_out else home.table(drop, "trajectory_scores").rows(),
        case_metrics(home.table(drop, "tool_use_results")),
        {} if whole.kept_out else session_metrics(home.table(drop, "session_analyses")),
        Participants(),
        findings_by_kind(home.table(drop, "findings")),
        counts,
    )
    metrics = metrics_in(rows)
    disputed = [run for run in whole.disputed if run[0] in runs]
    return replace(whole, drop=f"{drop}{_AT}{version}", agent_version=version, disputed=disputed, **metrics)
