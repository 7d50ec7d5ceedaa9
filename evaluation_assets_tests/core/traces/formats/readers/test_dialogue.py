"""Plain texts in which lines name the speakers, as trajectories."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.readers.dialogue import detect
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.speakers import markers_in
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, files_of, read, trajectories
from evaluation_assets_tests.third_party import data

CHAT = FIXTURES / "dialogue" / "chat.txt"
TRACES = FIXTURES / "dialogue" / "traces.json"


def of_text(text: str, folder: Path) -> Trajectory:
    (folder / "run.log").write_text(text, "utf-8")
    (run,) = trajectories(folder / "run.log")
    check(run)
    assert run.text == text
    return run


def said(run: Trajectory) -> list[tuple[str, str]]:
    return [
        (part.agent_id, run.piece(step.message or step.thought))
        for turn in run.turns
        for part in turn.interactions
        for step in part.steps
        if step.message or step.thought
    ]


@pytest.fixture
def traces() -> list[Trajectory]:
    return trajectories(TRACES)


def test_a_chat_is_turns_of_a_user_and_an_agent() -> None:
    (run,) = trajectories(CHAT)
    check(run)
    assert [turn.user_message for turn in run.turns] == [
        "How high is the Zugspitze?\nNote: in metres, please.",
        "And in feet?",
    ]
    assert said(run) == [("Assistant", "2962 metres."), ("Assistant", "9718 feet.")]
    assert run.text == CHAT.read_text("utf-8")


@pytest.mark.parametrize(
    ("log", "speeches"),
    [
        (
            "--- user ---\nGo.\n--- Planner ---\nI plan.\n--- Web Surfer ---\nI surf.",
            [("Planner", "I plan."), ("Web Surfer", "I surf.")],
        ),
        (
            "planner (to coder):\n\nWrite it.\n\n-----\ncoder (to planner):\n\nDone.",
            [("planner", "Write it.\n\n-----"), ("coder", "Done.")],
        ),
        (
            "[2025-03-27 01:21:03] FROM: Human TO: {'<all>'}\nACTION: x.UserRequirement\nCONTENT:\nAdd it up.\n"
            "\n[2025-03-27 01:21:11] NEW MESSAGES:\n\nCoder: \nx = 1\nNote: fine\n"
            "\n[2025-03-27 01:21:37] NEW MESSAGES:\n\nTester: \nassert x",
            [("Coder", "x = 1\nNote: fine"), ("Tester", "assert x")],
        ),
        (
            "2025-01-17 11:40:27.872 | INFO     | roles.role:_act:391 - Alice(Coder): to do Write(Write)\nx = 1\n"
            "2025-01-17 11:40:30.100 | INFO     | __main__:_act:85 - Bob(Tester): to do Test(Test)\nassert x",
            [("Alice", "x = 1"), ("Bob", "assert x")],
        ),
        (
            "Response from Supervisor Agent\n    # I ask.\nMessage to Music Agent\n    Play.\n"
            "Response from Music Agent\n    play()\nCode Execution Output\n    ok",
            [("Supervisor Agent", "# I ask."), ("Music Agent", "play()")],
        ),
    ],
)
def test_logs_of_frameworks_name_their_speakers(log: str, speeches: list[Any], tmp_path: Path) -> None:
    assert said(of_text(log, tmp_path)) == speeches


def test_calls_in_a_log_stand_with_their_results(tmp_path: Path) -> None:
    stamp = "2025-03-31 20:33:34.369 | INFO     | app.agent.toolcall:think:81 - "
    log = (
        f'{stamp}✨ Runner\'s thoughts: I compute.\n{stamp}🔧 Tool arguments: {{"code":"1 + 1"}}\n'
        f"{stamp}🔧 Activating tool: 'python_execute'...\n"
        f"{stamp}🎯 Tool 'python_execute' completed its mission! Result: Observed 2\n{stamp}✨ Runner's thoughts: Done."
    )
    run = of_text(log, tmp_path)
    (call,) = run.calls
    assert call.call is not None and (call.call.name, run.arguments(call.call)) == ("python_execute", {"code": "1 + 1"})
    assert call.result is not None and run.piece(call.result.content) == "Observed 2"
    assert said(run) == [("Runner", "I compute."), ("Runner", "Done.")]


def test_the_text_of_a_trace_is_kept_and_its_framework_says_nothing(traces: list[Trajectory]) -> None:
    run = traces[0]
    check(run)
    assert said(run) == [("Programmer", 'print("game")'), ("Code Reviewer", "It runs.")]
    assert (run.task, run.final_answer) == ("Write a game.", None)
    assert run.labels == {"human_labels": {"1.1": 1, "1.2": 0}, "human_label_summary": {"total_failures": 1}}
    assert run.extra == {"mas_name": "ChatDev", "benchmark_name": "ProgramDev", "round": "Round 1", "index": 1}


def test_a_document_in_the_text_gives_its_log_and_its_labels(traces: list[Trajectory]) -> None:
    run = traces[1]
    check(run)
    assert said(run) == [("Planner", "Thought: Look first.\n\nThen edit."), ("Navigator", "It is in game.py.")]
    assert (run.task_id, run.task, run.success) == ("game-2", "Add a score.\nIt starts at 0.", False)
    assert run.labels["note"]["text"] == ["Too short."]
    assert "Too short." not in run.text and "repetition" not in run.text


def test_a_document_may_hold_messages(traces: list[Trajectory]) -> None:
    run = traces[2]
    check(run)
    assert said(run) == [
        ("mathproxyagent", "Let us use Python.\nWhat is 1 + 1?"),
        ("assistant", "It is \\boxed{2}."),
    ]
    assert (run.task, run.final_answer, run.success) == ("What is 1 + 1?", "It is \\boxed{2}.", True)


def test_what_tests_found_is_a_label_and_no_text(tmp_path: Path) -> None:
    log = 'Response from A Agent\n  x\nResponse from B Agent\n  y\n\n\nEvaluation\n{\n  "success": true\n}'
    (tmp_path / "run.log").write_text(log)
    (run,) = trajectories(tmp_path / "run.log")
    assert (run.success, run.labels) == (True, {"evaluation": {"success": True}})
    assert "Evaluation" not in run.text


def test_a_named_final_answer_is_the_answer(tmp_path: Path) -> None:
    log = "---------- user ----------\nHow many?\n---------- Planner ----------\nFINAL ANSWER: 525\nDONE"
    assert of_text(log, tmp_path).final_answer == "525"


def test_nothing_of_a_record_is_lost() -> None:
    unmapped = UnmappedFields()
    trajectories(TRACES, unmapped=unmapped)
    assert unmapped.table() == []


def test_a_blank_text_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "traces.json").write_bytes(orjson.dumps([{"trace_text": "User: a"}, {"trace_text": "  "}]))
    _, blank = read(tmp_path / "traces.json")
    assert isinstance(blank, Rejection) and blank.reason == "no_trajectory_text"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One line.",
        "Note: a\nNote: b\n",
        "Ada: alone\nAda: again\n",
        "def f():\n    return 1\nelse:\n",
        "a,b\n1,2\n",
        "SYSTEM 5. The fence: ===\nASSISTANT Here are the changes:\nok\n" * 3,
        "SYSTEM - Platform: Linux\nSYSTEM - Language: en\n" * 3,
        "name: boat\nprice: 3\nname: bike\nprice: 4\n",
        "The first rule: wait.\nThe second rule: go.\n" * 2,
        "--- Results ---\nall fine\n--- Next steps ---\nnone\n",
        "input->output: 3\n",
    ],
)
def test_texts_without_speakers_are_not_taken(text: str) -> None:
    assert not detect(Sample(text=text))


def summary_of(text: str, folder: Path) -> ImportSummary:
    (folder / "run.log").write_text(text, "utf-8")
    files, report = files_of(folder / "run.log"), ImportReport()
    assert list(report.read(format_of(files), files))
    return report.summary


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("User: How deep is it?\nAssistant: Five metres.\nUser: And there?\nAssistant: Nine.\n", ()),
        ("planner (to coder):\n\nWrite it.\ncoder (to planner):\n\nDone.\n", ()),
        ("--- user ---\nGo.\n--- Planner ---\nI plan.\n", ()),
        ("--- Coder ---\nGo.\n--- Planner ---\nI plan.\n--- Coder ---\nYes.\n", ("Coder", "Planner")),
        ("Ada: How deep is it?\nGrace: Five metres.\nAda: And there?\nGrace: Nine.\n", ("Ada", "Grace")),
    ],
)
def test_speakers_that_only_look_like_names_make_a_reading_doubtful(
    text: str, speakers: tuple[str, ...], tmp_path: Path
) -> None:
    found = summary_of(text, tmp_path)
    assert found.guessed_speakers == speakers
    assert found.trust == ("doubtful" if speakers else "complete")
    assert all(name in found.sentence for name in speakers)


@given(st.text(alphabet="-AB (to):\n*[]#<>'2025s", max_size=300))
def test_markers_come_in_order_and_lie_in_the_text(text: str) -> None:
    position = -1
    for marker in markers_in(text):
        assert position < marker.start <= marker.inner <= len(text)
        position = marker.start


def test_recorded_logs_of_seven_frameworks() -> None:
    unmapped = UnmappedFields()
    runs = trajectories(data("mast/final_iaa_19_traces.json.gz"), unmapped=unmapped)
    assert (len(runs), unmapped.table()) == (19, [])
    for run in runs:
        check(run)
        assert run.labels["human_labels"]
        assert "human_labels" not in run.text
        assert len({name for name, _ in said(run)}) > 1 or run.extra["benchmark_name"] == "OpenManus"
    assert max(len(run.text) for run in runs) == 517614
    assert [run.success for run in runs if run.extra["mas_name"] == "AppWorld"] == [False, True, False]


def test_a_text_that_names_no_speaker_is_no_complete_reading(tmp_path: Path) -> None:
    prose = {"transcript": "Ingredients: flour\nMethod: bake it\nServes: four"}
    found = summary_of(orjson.dumps(prose).decode(), tmp_path)
    assert found.trust == "doubtful" and "the text names none" in found.sentence


@pytest.mark.parametrize("field", ["conversation", "chat_log", "history"])
@pytest.mark.parametrize("lines", [True, False])
def test_a_field_of_lines_that_name_speakers_is_a_conversation(field: str, lines: bool, tmp_path: Path) -> None:
    said = ["User: How deep is it?", "Assistant: Five metres.", "User: And there?", "Assistant: Nine."]
    (tmp_path / "run.json").write_bytes(orjson.dumps({"id": "r", field: said if lines else "\n".join(said)}))
    (run,) = trajectories(tmp_path / "run.json")
    assert [turn.user_message for turn in run.turns] == ["How deep is it?", "And there?"]
    prose = {"id": "r", field: "Ingredients: flour\nMethod: bake it\nServes: four"}
    assert not detect(Sample((prose,)))


def test_what_a_logger_prints_several_times_is_said_once(tmp_path: Path) -> None:
    lines = [f"Agents_x - INFO - {name}'s Response: {text}\n" for name, text in zip("ABAC", "pqrs", strict=True)]
    run = of_text("".join(line * times for line, times in zip(lines, (1, 2, 4, 3), strict=True)), tmp_path)
    assert said(run) == [("A", "p"), ("B", "q"), ("A", "r"), ("C", "s")]


def test_a_message_that_an_agent_repeats_in_a_log_is_said_again(tmp_path: Path) -> None:
    lines = [f"Agents_x - INFO - {name}'s Response: {text}\n" for name, text in ("Ap", "Bq", "Bq", "Bq", "Ar")]
    assert [text for _, text in said(of_text("".join(lines), tmp_path))] == ["p", "q", "q", "q", "r"]
