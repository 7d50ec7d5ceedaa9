"""Worked examples of a rubric, as they stand in the system prompt."""

from collections.abc import Iterator, Sequence

from evaluation_assets.core.judging.fences import fenced, neutral
from evaluation_assets.core.judging.rubrics.model import Example


def example_lines(examples: Sequence[Example], fence: str) -> Iterator[str]:
    """What judges are shown of labelled work. Texts of agents and of people stand in the fence."""
    if examples:
        yield "People have labelled the following work, from 0 (fail) to 1 (pass). Score work like it as they did."
    for number, each in enumerate(examples, 1):
        yield f"Example {number}: people gave it {each.label:.2f}, a judge {each.score:.2f}."
        yield fenced(neutral(each.work), fence)
        if each.reason:
            yield f"What people wrote about example {number}:"
            yield fenced(neutral(each.reason), fence)
