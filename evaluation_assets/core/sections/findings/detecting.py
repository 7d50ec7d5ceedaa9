"""What the detectors find in a run, and what agents claim in it."""

from evaluation_assets.core.sections.findings.claim import Claim, distinct
from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.evidence.call_forms import NO_FORMS, CallForms
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.finding import Finding
from evaluation_assets.core.traces.trajectories.model import Trajectory

_OF_WHAT_WAS_ASKED = frozenset(("unsupported_argument", "unsupported_answer"))
"""Kinds that nothing shows where the source keeps answers alone: what they hold may be what was asked."""


def detected(trajectory: Trajectory, forms: CallForms = NO_FORMS) -> list[Finding]:
    """The findings of all detectors, detector by detector. `forms` are those of the calls of its drop."""
    return detected_and_claimed(trajectory, forms)[0]


def detected_and_claimed(trajectory: Trajectory, forms: CallForms = NO_FORMS) -> tuple[list[Finding], list[Claim]]:
    """The findings of all detectors, and the claims that they checked, in one pass over the run."""
    course = Course(trajectory, forms)
    checked = [found for detector in DETECTORS for found in detector.checked(course)]
    found = [each for each in checked if isinstance(each, Finding)]
    is_asked = trajectory.is_asked
    findings = [each for each in found if is_asked or each.kind not in _OF_WHAT_WAS_ASKED]
    return findings, distinct(found for found in checked if isinstance(found, Claim))
