"""The process score of a run, by its findings."""

import pytest

from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.finding import Finding, Place, Severity
from evaluation_assets.core.sections.findings.gathering import FLAGS, findings_of
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.sections.findings.process_score import CRITERIA, process_score
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, run
from evaluation_assets_tests.core.sections.sessions.making import call

GOOD = [call("get_order", f'{{"id": "W{number}1234", "state": "open"}}', id=f"W{number}1234") for number in range(30)]
ORDERS = "What about " + ", ".join(f"W{number}1234" for number in range(30)) + "?"


def found(kind: str, severity: Severity = "MEDIUM", detector: str = "answers") -> Finding:
    return Finding(
        kind=kind, severity=severity, place=Place(), evidence="quoted", detector=detector, detector_version="1"
    )


def score(trajectory: Trajectory, *findings: Finding) -> float | None:
    return process_score(trajectory, findings or findings_of(trajectory)).score


def test_every_kind_of_a_detector_is_scored_by_one_criterion() -> None:
    scored = [kind for own in CRITERIA.values() for kind in own]
    assert len(scored) == len(set(scored))
    assert set(scored) <= kinds().keys()
    unscored = {kind for detector in DETECTORS for kind in detector.kinds} - set(scored)
    assert not unscored, "name the criterion of these kinds in CRITERIA, core/sections/findings/process_score.py"
    assert {"cut_off", "missing_answer"} <= {*FLAGS.values()} & set(scored)


def test_one_lie_counts_however_many_calls_are_good() -> None:
    lie = "I have cancelled W01234."
    few = score(run(asked(ORDERS, *GOOD[:1], answer=lie)))
    many = score(run(asked(ORDERS, *GOOD, answer=lie)))
    assert many == few
    assert many is not None
    assert many < 0.6
    assert score(run(asked(ORDERS, *GOOD, answer="They are all open."))) == 1


def test_a_run_in_which_nothing_can_be_checked_has_no_score() -> None:
    trajectory = run(asked("What is love?", answer="A song."))
    assert process_score(trajectory, []).score is None
    assert score(trajectory, found("missing_answer", detector="flags")) == 0.75


@pytest.mark.parametrize("kind", [kind for own in CRITERIA.values() for kind in own])
def test_each_further_finding_lowers_the_score(kind: str) -> None:
    trajectory = run(asked(ORDERS, *GOOD[:2]))
    detector = "constraint_results" if kind == "broken_rule" else "answers"
    scores = [score(trajectory, *[found(kind, detector=detector)] * count) for count in (1, 2, 3)]
    assert sorted({1.0, *(each or 0.0 for each in scores)}, reverse=True) == [1.0, *scores]
    harder = score(trajectory, found(kind, "HIGH", detector), found(kind, detector=detector))
    assert harder is not None
    assert scores[1] is not None
    assert harder < scores[1]


def test_twenty_thousand_findings_have_a_score() -> None:
    scored = process_score(run(asked(ORDERS, *GOOD[:2])), [found("repeated_call", "LOW")] * 20_000)
    assert scored.n == 20_000
    assert scored.score is not None
    assert 0 < scored.score < 1


def test_findings_of_sessions_and_test_cases_do_not_count() -> None:
    trajectory = run(asked(ORDERS, *GOOD[:2]))
    others = [found("contradicted_answer", "HIGH", source) for source in ("session_analyses", "tool_use_results")]
    scored = process_score(trajectory, others)
    assert (scored.score, scored.n, scored.heaviest) == (1, 0, None)


def test_the_score_says_what_weighs_most_and_which_criteria_apply() -> None:
    trajectory = run(asked(ORDERS, *GOOD[:2]))
    lie, rule = found("contradicted_answer"), found("broken_rule", "HIGH", "constraint_results")
    scored = process_score(trajectory, [lie, rule], has_rules=True)
    assert scored.heaviest is rule
    assert scored.criteria.keys() == CRITERIA.keys()
    assert scored.criteria["calls"] == 1
    assert scored.criteria["rules"] == pytest.approx(0.1)
    assert process_score(trajectory, []).criteria.keys() == CRITERIA.keys() - {"rules"}


def test_no_run_scores_higher_because_a_call_failed_or_is_missing() -> None:
    done = "I have cancelled W01234, which was 250."
    cancel = call("cancel_order", '{"id": "W01234", "total": 250}', id="W01234")
    failed = call("cancel_order", error="locked", id="W01234")
    before = score(run(asked(ORDERS, *GOOD[:1], cancel, answer=done)))
    for damaged in ([*GOOD[:1], failed], GOOD[:1], [*GOOD[:1], cancel, cancel]):
        after = score(run(asked(ORDERS, *damaged, answer=done)))
        assert before is not None
        assert after is not None
        assert after < before
