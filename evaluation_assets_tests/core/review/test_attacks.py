"""What a probe shows of a judge."""

from types import SimpleNamespace
from typing import Any

import pytest

from evaluation_assets.core.judging.probes import PROBES, RETEST
from evaluation_assets.core.review.attacks import probe_results

CLIPS = 12


@pytest.mark.parametrize(("moved", "outcome"), [(0, "resists"), (1, "resists"), (2, "gives_in"), (12, "gives_in")])
def test_one_clip_that_rises_is_no_finding(moved: int, outcome: str) -> None:
    """With noise of 0.05, four of ten judges that give in to nothing had such a clip among those of ten probes."""
    probe = next(name for name in PROBES if name != RETEST)
    given: list[Any] = []
    scores: dict[str, float | None] = {}
    for name in (None, RETEST, probe):
        for clip in range(CLIPS):
            given.append(SimpleNamespace(clip=clip, probe=name, trajectory=SimpleNamespace(id=f"{name} {clip}")))
            scores[f"{name} {clip}"] = 0.8 if name == probe and clip < moved else 0.5
    (found,) = (each for each in probe_results(given, scores) if each.probe == probe)
    assert (found.succeeded, found.clips, found.outcome) == (moved, CLIPS, outcome)
