"""Which findings are one failure."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.failure_groups.grouping import (
    GroupKey,
    Occurrence,
    grouped,
    pattern_of,
)


def found(run: int, kind: str = "ignored_error", tool: str | None = None, evidence: str = "e") -> Occurrence:
    return Occurrence(
        drop="d",
        trajectory_id=f"run {run}",
        task_id=f"task {run}",
        kind=kind,
        severity="HIGH",
        tool=tool,
        evidence=evidence,
    )


CALLS = {"search": 500, "pay": 100, "open": 400}


def test_findings_of_a_kind_are_one_group_if_they_are_spread_like_the_calls() -> None:
    spread = [found(run, tool=tool) for run, tool in enumerate(["search"] * 10 + ["pay"] * 2 + ["open"] * 8)]
    assert grouped(spread, CALLS).keys() == {GroupKey("ignored_error")}


def test_a_tool_in_which_a_kind_gathers_is_a_group_of_its_own() -> None:
    gathered = [found(run, tool="pay" if run < 10 else "search") for run in range(14)]
    groups = grouped(gathered, CALLS)
    assert {key: len(own) for key, own in groups.items()} == {
        GroupKey("ignored_error", "pay"): 10,
        GroupKey("ignored_error"): 4,
    }
    assert GroupKey("ignored_error", "pay").name == "Ignored error: pay"


def test_few_runs_and_a_single_tool_say_nothing_about_a_tool() -> None:
    assert grouped([found(run % 4, tool="pay") for run in range(12)], CALLS).keys() == {GroupKey("ignored_error")}
    assert grouped([found(run, tool="pay") for run in range(12)], {"pay": 12}).keys() == {GroupKey("ignored_error")}


def test_words_that_many_findings_share_are_a_group_of_its_own() -> None:
    same = [found(run, evidence=f"No module named 'm{run}' (line {run})") for run in range(6)]
    other = [found(run, evidence=f"word{chr(97 + run)}") for run in range(6, 14)]
    groups = grouped([*same, *other], CALLS)
    assert {key.words: len(own) for key, own in groups.items()} == {"no module named # (line #": 6, None: 8}
    assert grouped(same, CALLS).keys() == {GroupKey("ignored_error")}, "words that all have tell nothing apart"


def test_a_pattern_without_a_word_tells_nothing() -> None:
    same = [found(run, evidence='{"q": "same"}') for run in range(8)]
    other = [found(run, evidence=f"word{chr(97 + run)}") for run in range(8, 12)]
    assert grouped([*same, *other], CALLS).keys() == {GroupKey("ignored_error")}


def test_what_varies_is_no_part_of_a_pattern() -> None:
    assert pattern_of('Order W-123 of "Ada" was\n not found at 10:30') == pattern_of(
        "order X99 of 'Eve' was not found at 1"
    )
    assert len(pattern_of("word " * 50).split()) == 12


@given(
    st.lists(
        st.builds(
            found,
            st.integers(0, 9),
            st.sampled_from(["ignored_error", "loop"]),
            st.none() | st.sampled_from(["search", "pay", "other"]),
            st.sampled_from(["a", "b 1", "b 2"]),
        )
    )
)
def test_every_finding_is_in_one_group_whatever_their_order(given_: list[Occurrence]) -> None:
    groups = grouped(given_, CALLS)
    assert sum(map(len, groups.values())) == len(given_)
    again = grouped(reversed(given_), CALLS)
    assert {key: len(own) for key, own in again.items()} == {key: len(own) for key, own in groups.items()}
    assert len({key.id for key in groups}) == len(groups)
    for key, own in groups.items():
        assert {each.kind for each in own} == {key.kind}
        assert key.tool is None or {each.tool for each in own} == {key.tool}
