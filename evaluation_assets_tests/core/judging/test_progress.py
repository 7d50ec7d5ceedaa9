"""How far a judge is."""

from evaluation_assets.core.judging.progress import Judged


def test_what_is_done_has_no_time_left() -> None:
    judged = Judged("clip", "one", 12, lambda _: None, done=11)
    assert "min left" in judged.figures()
    judged.done = 12
    assert judged.figures().startswith("12 of 12 verdicts, ") and "left" not in judged.figures()


def test_a_judge_that_asks_no_model_has_no_cost_beside_one_that_does() -> None:
    assert "$" in Judged("clip", "one", 12, lambda _: None, done=11).figures()
    figures = Judged("clip", "rules", 12, lambda _: None, asks_model=False, done=12).figures()
    assert "$" not in figures and "ledger" not in figures
