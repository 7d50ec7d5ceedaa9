"""A report as files: JSON for programs, Markdown for reviews, HTML for people. Text in them is hostile and escaped."""

from functools import cache

import jinja2

from evaluation_assets.core.reporting.summary import DropReport


def as_json(report: DropReport) -> str:
    """The report's data."""
    return report.model_dump_json(indent=2) + "\n"


def as_markdown(report: DropReport) -> str:
    """The report for a pull request or a terminal."""
    return _environment().get_template("report.md.j2").render(report=report)


def as_html(report: DropReport) -> str:
    """The report as one self-contained page without scripts from trajectories and without network access."""
    return _environment().get_template("report.html.j2").render(report=report)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__ or "evaluation_assets.core.reporting", "templates"),
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"score": _score, "percent": _percent, "cell": _cell, "fenced": _fenced}
    return environment


def _score(value: float | None) -> str:
    """A score with two decimals; a dash where there is none."""
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]()#+-!|~"} | {"<": "&lt;", ">": "&gt;"})


def _cell(text: object, limit: int = 160) -> str:
    """Hostile text for a Markdown table: one line, no markup of its own."""
    line = " ".join(str(text).split())
    return (line[:limit] + ("…" if len(line) > limit else "")).translate(_MARKDOWN)


def _fenced(text: str) -> str:
    """Hostile text as a Markdown code block that it cannot close."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
