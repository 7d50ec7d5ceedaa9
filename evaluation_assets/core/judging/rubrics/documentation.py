"""The page `docs/rubrics.md`: `python -m evaluation_assets.core.judging.rubrics.documentation > docs/rubrics.md`."""

from collections.abc import Iterable
from typing import get_args

from evaluation_assets.core.judging.rubrics.model import Criterion, Level, Rubric, load_rubrics

_INTRODUCTION = """\
# Rubrics

<!-- Written by `make docs` from evaluation_assets/core/judging/rubrics. Change the text there. -->

What judges are asked. A judge gives each criterion a number on the scale, or abstains. Stored scores are mapped to
0..1. What each number means is written in `evaluation_assets/core/judging/rubrics/<level>/<name>.yaml`. A file
`rubrics/<level>/<name>.yaml` in the home folder adds a rubric, or replaces the shipped one of that name. See
[how to write a rubric](how_to.md#write-a-rubric).
"""


def page(rubrics: Iterable[Rubric]) -> str:
    """The documentation of rubrics, as Markdown, by level and name."""
    order = {level: position for position, level in enumerate(get_args(Level))}
    ordered = sorted(rubrics, key=lambda rubric: (order[rubric.level], rubric.name))
    return "\n".join((_INTRODUCTION, *(_section(rubric) for rubric in ordered)))


def _section(rubric: Rubric) -> str:
    scale = f"Scale {rubric.scale}"
    types = ", ".join("all others" if kind == "*" else f"`{kind}`" for kind in rubric.covers)
    scope = f" Tool types: {types}." if rubric.level in ("clip", "category") else ""
    head = f"## {rubric.level}: {rubric.name}\n\n{rubric.description}\n\n{scale}, version {rubric.version}.{scope}\n"
    rows = "\n".join(_row(criterion) for criterion in rubric.criteria)
    return f"{head}\n| criterion | question |\n|---|---|\n{rows}\n"


def _row(criterion: Criterion) -> str:
    needs = "" if criterion.needs is None else f" Asked only with: {criterion.needs.replace('_', ' ')}."
    return f"| {criterion.key} | {criterion.question.replace('|', '&#124;')}{needs} |"


if __name__ == "__main__":
    rubrics = load_rubrics()
    print(page(rubric for level in get_args(Level) for rubric in rubrics.of_level(level)), end="")
