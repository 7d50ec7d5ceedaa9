"""The version of everything that finds something, as one text."""

from collections.abc import Iterable

from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.gathering import GATHERING_VERSION

DETECTOR_VERSIONS = "|".join((GATHERING_VERSION, *(f"{detector.name} {detector.version}" for detector in DETECTORS)))


def versions_with(judges: Iterable[str]) -> str:
    """The versions, with the judges whose claims are findings too."""
    return "|".join((DETECTOR_VERSIONS, *(f"claims of {judge}" for judge in sorted(judges))))
