"""The vocabulary of findings."""

import pytest

from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.kinds import Kind, kinds

MAST_MODES = {
    "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2", "3.3",
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), kinds().items(), ids=kinds())
def test_a_kind_says_what_it_is_in_one_sentence(name: str, kind: Kind) -> None:
    assert name == name.lower() and name.replace("_", "").isalpha()
    assert kind.title.lower().replace(" ", "_").replace("-", "_") == name
    assert kind.meaning.endswith(".") and ". " not in kind.meaning
    assert kind.example
    assert set(kind.mast or ()) <= MAST_MODES


def test_every_detector_finds_kinds_of_the_vocabulary() -> None:
    assert len({detector.name for detector in DETECTORS}) == len(DETECTORS)
    assert {kind for detector in DETECTORS for kind in detector.kinds} <= set(kinds())
