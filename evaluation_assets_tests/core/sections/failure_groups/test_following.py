"""Which finding of a run follows from which other one."""

from evaluation_assets.core.sections.failure_groups.following import with_roots
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence


def found(
    kind: str,
    clip: int | None = None,
    span: tuple[int, int] | tuple[None, None] = (None, None),
    tool: str | None = None,
) -> Occurrence:
    return Occurrence(
        drop="d",
        trajectory_id="run",
        task_id="task",
        kind=kind,
        severity="LOW",
        tool=tool,
        evidence=f"{kind} {clip}",
        clip_index=clip,
        start=span[0],
        end=span[1],
    )


def roots(*own: Occurrence) -> list[str]:
    """The evidence of each finding's root, whatever the order of the findings."""
    there = {each.evidence: root.evidence for each, root in with_roots(own)}
    back = {each.evidence: root.evidence for each, root in with_roots(own[::-1])}
    assert there == back
    return [there[each.evidence] for each in own]


def test_what_an_agent_makes_up_follows_from_the_last_ignored_error_before_it() -> None:
    assert roots(
        found("unsupported_argument", 1),
        found("ignored_error", 1, tool="search"),
        found("contradicted_answer", 3),
        found("ignored_error", 4),
        found("unsupported_answer", 5),
        found("repeated_call", 5),
    ) == [
        "unsupported_argument 1",
        "ignored_error 1",
        "ignored_error 1",
        "ignored_error 4",
        "ignored_error 4",
        "repeated_call 5",
    ]


def test_findings_of_one_text_are_one_failure() -> None:
    said = (10, 20)
    assert roots(
        found("contradicted_answer", 2, said),
        found("unsupported_answer", 2, said),
        found("contradicted_answer", 3, (0, 9)),
    ) == ["unsupported_answer 2", "unsupported_answer 2", "contradicted_answer 3"]
    assert roots(found("repeated_call", 2, said), found("ignored_error", 2, said)) == [
        "repeated_call 2",
        "ignored_error 2",
    ]


def test_a_run_that_ends_at_an_error_was_cut_off() -> None:
    result = (10, 20)
    ended = roots(
        found("ignored_error", 2, result), found("cut_off", 2, result), found("unperformed_claim", 3, (30, 40))
    )
    assert ended == ["cut_off 2"] * 3


def test_the_tests_of_a_task_are_not_those_that_the_agent_ran() -> None:
    assert roots(found("failing_tests"), found("failing_tests", 3)) == ["failing_tests None", "failing_tests 3"]


def test_what_a_test_case_says_of_the_run_is_what_a_detector_says_of_a_step() -> None:
    assert roots(found("repeated_call"), found("loop"), found("repeated_call", 3)) == [
        "repeated_call 3",
        "loop None",
        "repeated_call 3",
    ]
