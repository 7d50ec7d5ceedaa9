"""What recorded runs show that a suite does not measure."""

from typing import Any

from evaluation_assets.core.suites.recorded_runs import RecordedRun, weaknesses_by_runs
from evaluation_assets.core.suites.suite import Suite

LOOKED_UP = {"id": "look", "message": "Look it up.", "expected_calls": [{"tool": "look.up"}], "category": "simple"}
ANSWERED = {"id": "count", "message": "How many?", "answer": "12", "category": "simple"}


def said(*runs: RecordedRun, cases: tuple[dict[str, Any], ...] = (LOOKED_UP, ANSWERED)) -> dict[str, str]:
    suite = Suite.model_validate({"name": "s", "cases": cases})
    return {each.kind: f"{', '.join((*each.cases, each.detail))}" for each in weaknesses_by_runs(suite, runs)}


def run(
    *tools: str, task_id: str = "count", task: str = "How many?", answer: str | None = "12", **about: Any
) -> RecordedRun:
    fields = {"has_passed": True, "category": None} | about
    return RecordedRun(task_id=task_id, task=task, tools=tools, answer=answer, **fields)


def test_runs_that_the_suite_covers_say_nothing() -> None:
    assert said() == {}
    assert said(run("look_up"), run("look_up", answer="There are 12.", category="simple")) == {}


def test_an_answer_that_passing_runs_do_not_give_is_unstable() -> None:
    by_words = run(task_id="t1", task=" How  many? ", answer="13")
    runs = (
        run(),
        by_words,
        run(answer=None),
        run(answer="14", has_passed=False),
        run(task_id="other", task="?", answer="9"),
    )
    assert said(*runs) == {"unstable_answer": "count, another answer than '12' in 2 of 3 passing runs"}


def test_tools_numbers_of_calls_and_categories_that_no_case_has() -> None:
    runs = run("pay", "look_up"), run("pay", category="hard"), run("open", category="simple")
    assert said(*runs) == {
        "uncovered_tools": "runs call pay, open, which no case expects",
        "uncovered_length": "1 of 3 runs make more than 1 call, the most that a case expects",
        "uncovered_categories": "runs are of hard, and no case is",
    }


def test_a_suite_that_expects_no_calls_leaves_none_out() -> None:
    assert said(run("pay", "look_up"), cases=(ANSWERED,)) == {}
