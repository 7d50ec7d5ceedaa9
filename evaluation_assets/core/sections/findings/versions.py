"""The version of everything that finds something, as one text."""

from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.gathering import GATHERING_VERSION

DETECTOR_VERSIONS = "|".join((GATHERING_VERSION, *(f"{detector.name} {detector.version}" for detector in DETECTORS)))
