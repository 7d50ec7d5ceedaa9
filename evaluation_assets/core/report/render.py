"""Render a report as JSON, Markdown and HTML. Text from trajectories is hostile and escaped."""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

import jinja2
from jinja2.bccache import Bucket

from evaluation_assets.core.gating.figures import both_changes, change, p_value, signed, size
from evaluation_assets.core.judging.panel import WITHOUT_MODEL
from evaluation_assets.core.report.findings.attention import look_at_first
from evaluation_assets.core.report.places import rows_counted, rows_where, rows_with
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.report.scores.distributions import TENTHS, Statistic
from evaluation_assets.core.report.viewer.script import script_hash
from evaluation_assets.core.sections.coding_work.summary import dollars, duration
from evaluation_assets.core.sections.constraints.summary import in_words
from evaluation_assets.core.sections.findings.summary import in_points, kinds_title
from evaluation_assets.core.text.counted import counted, percent, runs_of_tasks, to_a_hundredth_cent
from evaluation_assets.core.text.plain_text import markdown_cell, plain
from evaluation_assets.core.text.report_addresses import ReportAddress, task_place, trajectory_place


class _Interval(Protocol):
    @property
    def ci_low(self) -> float | None: ...
    @property
    def ci_high(self) -> float | None: ...


def as_json(report: DropReport) -> str:
    """The data of the report as JSON."""
    return report.model_dump_json(indent=2) + "\n"


def as_markdown(report: DropReport, address: ReportAddress = ReportAddress()) -> str:
    """The report as Markdown: what changed, what to look at, and links into the page at `address`."""
    return (
        environment().get_template("report.md.j2").render(report=report, address=address, first=look_at_first(report))
    )


def outcome_markdown(report: DropReport, address: ReportAddress = ReportAddress()) -> str:
    """The headline and the gate of a report as Markdown, for a comment on a pull request.

    Links need the URL of the report; a comment lies beside no files.
    """
    return environment().get_template("outcome.md.j2").render(report=report, address=address)


def as_html(report: DropReport) -> str:
    """The report as one self-contained page. Its security policy allows the viewer's script and nothing else."""
    return plain(
        environment()
        .get_template("report.html.j2")
        .render(report=report, first=look_at_first(report), script_source=script_hash())
    )


class _CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Compiled templates in the folder of temporary files; where it is full, they are compiled again each time."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled_templates() -> jinja2.BytecodeCache | None:
    try:
        return _CompiledTemplates()
    except (OSError, RuntimeError):  # no folder can be made, or it belongs to somebody else
        return None


_CORE = Path(__file__).parent.parent
_TEMPLATES = sorted([*_CORE.glob("report/**/templates"), *_CORE.glob("sections/*/templates")])
"""Folders of templates: those of the report itself, and those of its sections."""


@cache
def environment() -> jinja2.Environment:
    """The Jinja environment of all report templates."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),  # noqa: S701 (Markdown has its own)
        bytecode_cache=_compiled_templates(),  # compiling the templates takes 0.3 s
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "score": _score,
        "to_a_thousandth": _to_a_thousandth,
        "percent": _with_dash(percent),
        "cell": markdown_cell,
        "fenced": _fenced,
    }
    environment.filters |= {
        "precise": precise,
        "signed": signed,
        "interval": _interval,
        "p_value": p_value,
        "change": change,
        "both_changes": both_changes,
        "size": size,
    }
    environment.filters |= {"duration": _with_dash(duration), "dollars": _with_dash(dollars), "counted": counted}
    environment.filters["to_a_hundredth_cent"] = to_a_hundredth_cent
    environment.filters["runs_of_tasks"] = runs_of_tasks
    environment.filters |= {"constraint_in_words": in_words, "in_points": in_points, "finding_title": kinds_title}
    environment.globals |= {
        "run_place": trajectory_place,
        "task_place": task_place,
        "rows_where": rows_where,
        "rows_with": rows_with,
        "rows_counted": rows_counted,
        "tenths_text": tenths_text,
        "without_model": WITHOUT_MODEL,
    }
    return environment


def tenths_text(statistic: Statistic) -> str:
    """A distribution in words, for those who do not see its graph: `12 scores: 3 from 0.2 to 0.3, ...`."""
    ranges = [
        f"{count:,} from {place / TENTHS:.1f} to {(place + 1) / TENTHS:.1f}"
        for place, count in enumerate(statistic.tenths)
        if count
    ]
    return f"{counted(statistic.n_scored, 'score')}: {', '.join(ranges)}"


def _with_dash(written: Callable[[float], str]) -> Callable[[float | None], str]:
    """Write a missing value as everywhere in reports."""
    return lambda value: "–" if value is None else written(value)


def _score(value: float | None) -> str:
    """A score with two decimals; a dash for `None`."""
    return "–" if value is None else f"{value:z.2f}"


def _to_a_thousandth(value: float | None) -> str:
    """A share as the terminal prints it; a dash for `None`."""
    return "–" if value is None else f"{value:.3f}"


def _interval(figures: _Interval) -> str:
    """A 95% interval with two decimals; empty if there is none."""
    if figures.ci_low is None or figures.ci_high is None:
        return ""
    return f"[{figures.ci_low:z.2f}, {figures.ci_high:z.2f}]"


def precise(value: float | None) -> str:
    """A figure with three significant digits; a dash for `None`."""
    return "–" if value is None else f"{value:.3g}"


def _fenced(text: str) -> str:
    """Hostile text as a Markdown code block that it cannot close."""
    text = plain(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
