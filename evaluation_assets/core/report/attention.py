"""What to look at first in a report: at most three places, the most urgent first."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote

from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.text.counted import counted

MOST = 3


@dataclass(frozen=True, slots=True)
class Pointer:
    """A finding in one sentence, and the address in the report that shows it."""

    text: str
    address: str


def look_at_first(report: DropReport) -> list[Pointer]:
    """The findings to begin with.

    Regressions, judges in trouble, violated constraints, failure patterns, failed runs, the worst clip.
    """
    return list(islice(_findings(report), MOST))


def _findings(report: DropReport) -> Iterator[Pointer]:
    fallen = report.gate.fallen_tasks if report.gate is not None else []
    if fallen:
        worst = min(fallen, key=lambda task: (not task.beyond_noise, task.current - task.baseline))
        change = f"{worst.metric} of {worst.task_id} from {worst.baseline:.2f} to {worst.current:.2f}"
        yield Pointer(f"{counted(len(fallen), 'task')} fell, most of all {change}", f"#/compare/{_part(worst.task_id)}")
    for judge in report.judges:
        if judge.shortfall:
            yield Pointer(judge.shortfall, "#judges")
    if report.constraints is not None:
        violated = [one for one in report.constraints.failed if one.severity == "error" and one.failed]
        if violated:
            most = max(violated, key=lambda one: one.failed)
            runs = counted(most.failed, "trajectory")
            yield Pointer(f"The constraint {most.name} is violated in {runs}: {most.rule}", "#constraints")
    patterns = report.tool_use.patterns if report.tool_use is not None else []
    if patterns:
        most = max(patterns, key=lambda pattern: pattern.n_failed_runs)
        if most.n_failed_runs:
            failed, example = (
                counted(most.n_failed_runs, "failed run"),
                f"; {most.examples[0]}" if most.examples else "",
            )
            yield Pointer(f"Most frequent failure: {most.failure_class}, in {failed}{example}", "#tool-use")
    outcome = report.headline.rates[0] if report.headline.rates else None
    if outcome is not None and outcome.measure != "right_answer" and outcome.count < outcome.n:
        yield Pointer(f"{outcome.n - outcome.count} of {counted(outcome.n, 'run')} failed", "#/runs?q=outcome:fail")
    if report.worst_clips:
        clip = report.worst_clips[0]
        place = f"#/run/{_part(clip.trajectory_id)}?clip={clip.clip_index}"
        yield Pointer(f"Lowest score of a clip: {clip.score:.2f}, {clip.tool_type} in {clip.trajectory_id}", place)


def _part(text: str) -> str:
    return quote(text, safe="")
