"""Lookups whose error is what the run had to find out: what was looked for is not there."""

from evaluation_assets.core.sections.findings.evidence.course import PlacedStep, sentences
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.effects import may_do_anything
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.words import words


def found_nothing(made: PlacedStep) -> bool:
    """Whether a lookup failed because what was looked for is not there."""
    error = made.step.result and made.step.result.error
    is_lookup = not (may_do_anything(made.call) or changes_state(made.call.name))
    return bool(error) and is_lookup and cues("absent").matches(error)


def says_absent(text: str, made: PlacedStep) -> bool:
    """Whether a sentence says that what a lookup did not find does not exist, with a word of its arguments."""
    if not found_nothing(made) or not cues("absence").matches(text):
        return False
    own = words(made.arguments_text)
    said = (text[start:end] for start, end in sentences(text))
    return any(cues("absence").matches(each) and own & words(each) for each in said)
