"""What the detectors find in a run, and what agents claim in it."""

from evaluation_assets.core.sections.findings.claim import Claim, distinct
from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.finding import Finding
from evaluation_assets.core.traces.trajectories.model import Trajectory


def detected(trajectory: Trajectory) -> list[Finding]:
    """The findings of all detectors, detector by detector."""
    return detected_and_claimed(trajectory)[0]


def detected_and_claimed(trajectory: Trajectory) -> tuple[list[Finding], list[Claim]]:
    """The findings of all detectors, and the claims that they checked, in one pass over the run."""
    checked = [found for detector in DETECTORS for found in detector.checked(trajectory)]
    findings = [found for found in checked if isinstance(found, Finding)]
    return findings, distinct(found for found in checked if isinstance(found, Claim))
