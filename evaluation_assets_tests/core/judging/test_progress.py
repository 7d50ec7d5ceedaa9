"""How far a judge is."""

from unittest.mock import Mock

from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.progress import Judged
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.traces.trajectories.model import Usage


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def judged_at(clock: Clock, every: float, count: int, into: Judged) -> Judged:
    for _ in range(count):
        clock.now += every
        into.add(Judgement(Mock(), Verdict(outcome="scored", usage=Usage(cost_usd=0.01))))
    return into


def test_what_is_done_has_no_time_left() -> None:
    clock = Clock()
    judged = judged_at(clock, 1.0, 11, Judged("clip", "one", 12, lambda _: None, clock=clock))
    assert "left" in judged.figures()
    judged_at(clock, 1.0, 1, judged)
    assert judged.figures().startswith("12 of 12 verdicts, ") and "left" not in judged.figures()


def test_the_time_that_is_left_follows_from_the_recent_rate() -> None:
    clock = Clock()
    judged = judged_at(clock, 0.001, 500, Judged("clip", "one", 1000, lambda _: None, clock=clock))
    assert "~10 s left" in judged.figures()
    judged_at(clock, 2.0, 60, judged)
    assert "560 of 1000 verdicts, 0.5/s, ~15 min left" in judged.figures()
    judged_at(clock, 2.0, 425, judged)
    assert "985 of 1000 verdicts, 0.5/s, ~30 s left" in judged.figures()


def test_the_cost_is_that_of_all_levels() -> None:
    clock = Clock()
    clips, runs = (judged_at(clock, 1.0, 5, Judged(level, "one", 9, print, clock=clock)) for level in ("clip", "run"))
    assert "$0.0500" in runs.figures() and "$0.1000" in runs.figures([clips])


def test_a_judge_that_asks_no_model_has_no_cost_beside_one_that_does() -> None:
    assert "$" in Judged("clip", "one", 12, lambda _: None, done=11).figures()
    figures = Judged("clip", "rules", 12, lambda _: None, asks_model=False, done=12).figures()
    assert "$" not in figures and "ledger" not in figures
