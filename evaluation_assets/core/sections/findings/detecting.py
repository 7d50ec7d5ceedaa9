"""What the detectors find in a run."""

from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.finding import Finding
from evaluation_assets.core.traces.trajectories.model import Trajectory


def detected(trajectory: Trajectory) -> list[Finding]:
    """The findings of all detectors, detector by detector."""
    return [finding for detector in DETECTORS for finding in detector.findings(trajectory)]
