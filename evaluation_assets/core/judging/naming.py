"""A failure group as a subject: what fails, in one line that quotes a finding."""

import re
from collections.abc import Sequence

from evaluation_assets.core.judging.rubrics.model import Criterion, Rubric, Scale
from evaluation_assets.core.judging.subjects import Chain, Subject, chain_of, whole
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.text.folded import folded
from evaluation_assets.core.text.plain_text import visible
from evaluation_assets.core.traces.trajectories.model import Trajectory

_SAME = "same_failure"
_LONGEST = 100
_QUOTED = re.compile(r"[\"“”]([^\"“”]{3,})[\"“”]")

NAMING = Rubric(
    name="failure_group",
    level="trajectory",
    version=1,
    description=(
        "What a rule found in several runs of an agent, and took for the same failure. Give the failure a name: write "
        f'as "summary" one line of at most {_LONGEST} characters that says what fails, not who found it, and that '
        "quotes the most telling words of a finding in double quotes, exactly as they stand there. Quote nothing else."
    ),
    scale=Scale(min=0, max=1),
    criteria=(
        Criterion(
            key=_SAME,
            question="Are the findings one and the same failure?",
            anchors={0: "They are different failures, which no name fits.", 1: "They are the same failure."},
        ),
    ),
)


class NotNamed(ValueError):
    """A verdict that gives no name; the message says why."""


def group_chain(group: str, title: str, tool: str | None, evidence: Sequence[str]) -> Chain:
    """The question for the name of a group. `title` is ours; tool and evidence are of the runs."""
    texts = [*([] if tool is None else [tool]), *evidence]
    titles = [*([] if tool is None else ["Tool:"]), *(f"Finding {number}:" for number in range(1, len(evidence) + 1))]
    findings = Trajectory(
        id=group,
        task_id=group,
        format="findings",
        task="Tasks of several runs, which are not shown.",
        text="\n".join(texts),
        turns=(),
    )
    subject = Subject(
        level="trajectory",
        name="trajectory",
        rubric=NAMING,
        trajectory=findings,
        chain_rubrics=(NAMING,),
        heading=f"Findings of the kind: {title}.",
        contents=tuple(map(whole, texts)),
        titles=titles,
    )
    return chain_of(findings, (subject,))


def name_in(verdict: Verdict, evidence: Sequence[str]) -> str:
    """The name that a verdict gives: one line of visible characters.

    Raises:
        NotNamed: the judge failed, finds several failures, or gives no name that quotes the evidence.
    """
    if verdict.outcome != "scored":
        raise NotNamed(verdict.error or f"the judge {verdict.outcome}")
    if verdict.scores[_SAME] == 0:
        raise NotNamed("the judge finds different failures in it")
    name = _line(verdict.summary or "")
    if len(name) > _LONGEST:
        raise NotNamed(f"the name has more than {_LONGEST} characters")
    quoted = _QUOTED.findall(name)
    if not quoted:
        raise NotNamed("the name quotes no finding")
    seen = folded("\n".join(map(_line, evidence)))
    missing = [quote for quote in quoted if folded(quote) not in seen]
    if missing:
        raise NotNamed(f"the name quotes {missing[0]!r}, which no finding has")
    return name


def _line(text: str) -> str:
    return " ".join(visible(text).split())
