"""Conversations of Antigravity: the lines of `<conversation>/.system_generated/logs/transcript_full.jsonl`."""

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "antigravity"


def test_results_are_the_steps_after_the_calls_in_their_order() -> None:
    (run,) = trajectories(FIXTURE)  # with the transcript whose texts are cut
    check(run)
    assert calls_of(run) == [
        ("view_file", {"AbsolutePath": "/shop/totals.py"}, "1: total = price\n"),
        (
            "run_command",
            {"CommandLine": "pytest -q", "WaitMsBeforeAsync": 2000},
            "Created At: 2026-06-01T10:00:04Z\nThe command exited with code 1.\nOutput:\n1 failed",
        ),
    ]
    assert [step.result.error for step in run.calls if step.result] == [None, "exit code 1"]
    assert summary_of(FIXTURE).trust == "complete"


def test_the_request_is_the_task_and_the_setting_the_model() -> None:
    (run,) = trajectories(FIXTURE)
    assert (run.task, run.final_answer) == ("The totals are wrong. Fix them.", "The totals leave out the tax.")
    assert [agent.model for agent in run.agents] == ["Model A (High)"]
    assert (run.started_at, run.duration_s, run.extra["compactions"]) == ("2026-06-01T10:00:00Z", 6.0, 1)


def test_a_transcript_with_texts_that_are_cut_is_no_complete_reading() -> None:
    summary = summary_of(FIXTURE / "transcript.jsonl")
    assert (summary.trust, [one.sentence for one in summary.differences]) == (
        "partial",
        ["1 full text stated by the source, 0 read"],
    )
