"""The page `docs/rubrics.md`: `python -m evaluation_assets_tests.generated_pages.rubrics > docs/rubrics.md`."""

from collections.abc import Iterable
from typing import get_args

from evaluation_assets.core.judging.rubrics.model import Criterion, Level, Rubric, load_rubrics

_INTRODUCTION = """\
# Rubrics

<!-- Written by `make docs` from evaluation_assets/core/judging/rubrics. Change the text there. -->

What judges are asked. A judge gives each criterion a number on the scale, or abstains. Stored scores are mapped to
0..1. What each number means, and all else that a judge reads, is written in
`evaluation_assets/core/judging/rubrics/<level>/<name>.yaml`. To add or replace one, see
[write a rubric](how_to.md#write-a-rubric).

Unless a rubric says otherwise, its scale is 0 to 10, its version is 1, and the tool type of a clip or category is its
name.
"""

_USUAL = "Scale 0 to 10, version 1."


def page(rubrics: Iterable[Rubric]) -> str:
    """The documentation of rubrics, as Markdown, by level and name."""
    order = {level: position for position, level in enumerate(get_args(Level))}
    ordered = sorted(rubrics, key=lambda rubric: (order[rubric.level], rubric.name))
    return "\n".join((_INTRODUCTION, *(_section(rubric) for rubric in ordered)))


def _section(rubric: Rubric) -> str:
    scale = f"Scale {rubric.scale}, version {rubric.version}."
    types = ", ".join("all others" if kind == "*" else f"`{kind}`" for kind in rubric.covers)
    of_tools = rubric.level in ("clip", "category") and types != f"`{rubric.name}`"
    remarks = [*([scale] if scale != _USUAL else []), *([f"Tool types: {types}."] if of_tools else [])]
    subject = rubric.description.strip().partition(" Judged: ")[0]  # what follows are the criteria in short
    if rubric.level == "clip":
        subject = subject.partition(": ")[0].rstrip(".") + "."  # what follows is what any clip has
    head = " ".join((subject, *remarks))
    return f"## {rubric.level}: {rubric.name}\n\n{head}\n\n{''.join(_entry(each) for each in rubric.criteria)}"


def _entry(criterion: Criterion) -> str:
    needs = "" if criterion.needs is None else f" Asked only with: {criterion.needs.replace('_', ' ')}."
    return f"- `{criterion.key}`: {criterion.question}{needs}\n"


if __name__ == "__main__":
    rubrics = load_rubrics()
    print(page(rubric for level in get_args(Level) for rubric in rubrics.of_level(level)), end="")
