"""ATIF documents, and documents that point at each other, as trajectories."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.readers.atif import detect
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, files_of, read, trajectories
from evaluation_assets_tests.third_party import data

FIXTURE = FIXTURES / "atif"


def read_documents(folder: Path, **documents: Any) -> list[Trajectory | Rejection]:
    for name, document in documents.items():
        (folder / f"{name}.json").write_bytes(orjson.dumps(document))
    return read(folder, format_name="atif")


def document(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    asked = {"step_id": 1, "source": "user", "message": "Do it"}
    agent = {"name": "worker", "version": "1"}
    return {"schema_version": "ATIF-v1.6", "agent": agent, "steps": [asked, *steps], **fields}


def test_documents_that_belong_together_are_one_trajectory() -> None:
    unmapped = UnmappedFields()
    (run,) = trajectories(FIXTURE, unmapped=unmapped)
    check(run)
    assert (run.task_id, run.task) == ("count-lines", "Count the lines of notes.txt")
    assert run.final_answer == "notes.txt has 12 lines."
    assert (run.success, run.labels) == (True, {"reward": 1.0})
    assert (run.started_at, run.duration_s) == ("2026-01-05T10:00:00Z", 60.0)
    assert unmapped.table() == [
        ("steps[] (copied context)", 1),
        ("steps[].observation.results[].content[] (image)", 1),
        ("steps[].reasoning_effort", 1),
    ]


def test_results_stand_behind_the_calls_they_answer() -> None:
    (run,) = trajectories(FIXTURE)
    called = [
        (run.arguments(step.call), run.piece(step.result.content), step.result.error)
        for step in run.calls
        if step.call is not None and step.result is not None
    ]
    assert called[:2] == [
        ({"command": "wc -l notes.txt"}, "12 notes.txt\n[image: images/1.png]", None),
        ({"command": "wc -l other.txt"}, "Error: other.txt: No such file", "Error: other.txt: No such file"),
    ]


def test_every_agent_has_its_own_interactions_tools_and_model() -> None:
    (run,) = trajectories(FIXTURE)
    (turn,) = run.turns
    assert [interaction.agent_id for interaction in turn.interactions] == [
        "builder",
        "checker",
        "builder",
        "builder sub-agent",
        "builder",
    ]
    builder = run.agents[0]
    assert (builder.model, builder.version, builder.description) == ("model-a", "2.0", "You build things.")
    assert builder.tools is not None and [tool.name for tool in builder.tools] == ["shell"]


def test_what_a_sub_agent_was_told_stands_once() -> None:
    (run,) = trajectories(FIXTURE)
    assert run.text.count("Check that 12 is right") == 1  # the call's arguments have it
    assert run.text.count("Look again.") == 1


def test_tokens_and_cost_are_those_of_all_steps() -> None:
    (run,) = trajectories(FIXTURE)
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (100 + 150 + 60 + 30 + 5, 20 + 10 + 8 + 4 + 2)
    assert run.usage.cost_usd is None  # the continuation's 0 for 68 tokens is unknown, and so is the whole


def test_totals_count_where_steps_say_nothing(tmp_path: Path) -> None:
    said = {"step_id": 2, "source": "agent", "message": "done"}
    (run,) = read_documents(tmp_path, a=document(said, final_metrics={"total_prompt_tokens": 7}))
    assert isinstance(run, Trajectory) and run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (7, None, None)


def test_a_paid_call_without_a_step_is_in_the_total(tmp_path: Path) -> None:
    metrics = {"prompt_tokens": 10, "completion_tokens": 4, "cost_usd": 0.02}
    said = {"step_id": 2, "source": "agent", "message": "done", "metrics": metrics}
    totals = {"total_prompt_tokens": 25, "total_completion_tokens": 3, "total_cost_usd": 0.05}
    (run,) = read_documents(tmp_path, a=document(said, final_metrics=totals))
    assert isinstance(run, Trajectory) and run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (25, 4, 0.05)


def test_a_total_with_its_sub_agents_in_it_is_not_counted_twice(tmp_path: Path) -> None:
    said = {"source": "agent", "message": "go", "metrics": {"cost_usd": 0.02}}
    child = document({"source": "agent", "message": "child", "metrics": {"cost_usd": 0.03}}, trajectory_id="c")
    parent = document(said, subagent_trajectories=[child], final_metrics={"total_cost_usd": 0.05})
    (run,) = read_documents(tmp_path, a=parent)
    assert isinstance(run, Trajectory) and run.usage is not None
    assert run.usage.cost_usd == pytest.approx(0.05)


@pytest.mark.parametrize("names", [{"session_id": "sub"}, {"trajectory_id": "sub"}, {}], ids=["session", "id", "path"])
def test_a_missing_sub_agent_is_not_taken_from_the_folder_of_another_run(tmp_path: Path, names: dict[str, str]) -> None:
    results = {"results": [{"content": "done", "subagent_trajectory_ref": {"trajectory_path": "sub.json"} | names}]}
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        parent = document({"source": "agent", "message": f"{run} goes", "observation": results}, session_id=run)
        (tmp_path / run / "main.json").write_bytes(orjson.dumps(parent))
    child = document({"source": "agent", "message": "child spoke"}, **names)
    (tmp_path / "two" / "sub.json").write_bytes(orjson.dumps(child))
    unmapped = UnmappedFields()
    one, two = trajectories(tmp_path, unmapped=unmapped)
    assert "child spoke" not in one.text and "child spoke" in two.text
    assert unmapped.counts["steps[].observation.results[].subagent_trajectory_ref (not in the drop)"] == 1
    assert [difference.sentence for difference in unmapped.stated] == [
        "1 sub-agent session stated by the source, 0 read"
    ]


@pytest.mark.parametrize(("stated", "expected"), [(75, 75), (35, 75), (50, 90), (80, 80)])
def test_a_total_of_a_continuation_may_include_what_came_before(tmp_path: Path, stated: int, expected: int) -> None:
    def used(tokens: int) -> dict[str, Any]:
        return {"step_id": 2, "source": "agent", "message": "Done", "metrics": {"prompt_tokens": tokens}}

    first = document(used(40), final_metrics={"total_prompt_tokens": 40}, continued_trajectory_ref="second.json")
    second = document(used(35), final_metrics={"total_prompt_tokens": stated})
    (run,) = read_documents(tmp_path, first=first, second=second)
    assert isinstance(run, Trajectory)
    assert run.usage is not None and run.usage.input_tokens == expected


def test_a_reference_to_nothing_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(
        orjson.dumps(document({"source": "agent", "message": "x"}, continued_trajectory_ref="gone.json"))
    )
    unmapped = UnmappedFields()
    (run,) = trajectories(tmp_path, unmapped=unmapped)
    assert run.final_answer == "x"
    assert unmapped.counts["continued_trajectory_ref (not in the drop)"] == 1


def test_a_circle_of_references_is_one_trajectory(tmp_path: Path) -> None:
    said = {"source": "agent", "message": "mine"}
    one = document(said, continued_trajectory_ref="b.json")
    other = document(said, continued_trajectory_ref="a.json")
    (run,) = read_documents(tmp_path, a=one, b=other)
    assert isinstance(run, Trajectory)
    assert run.text.count("mine") == 2


def test_a_document_that_points_at_itself_is_read(tmp_path: Path) -> None:
    (run,) = read_documents(
        tmp_path, a=document({"source": "agent", "message": "x"}, continued_trajectory_ref="a.json")
    )
    assert isinstance(run, Trajectory)


def test_sub_agents_are_found_by_their_session_where_there_is_no_path(tmp_path: Path) -> None:
    reference = {"session_id": "sub", "trajectory_path": None}
    results = {"results": [{"content": "done", "subagent_trajectory_ref": reference}]}
    parent = document({"source": "agent", "message": "go", "observation": results}, session_id="main")
    child = document({"source": "agent", "message": "child spoke"}, session_id="sub")
    (run,) = read_documents(tmp_path, a=parent, b=child)
    assert isinstance(run, Trajectory)
    assert "child spoke" in run.text


def test_an_answer_handed_in_by_a_call_is_the_final_answer(tmp_path: Path) -> None:
    finish = {"tool_call_id": "1", "function_name": "finish", "arguments": {"message": "42"}}
    (run,) = read_documents(tmp_path, a=document({"source": "agent", "message": "I am done", "tool_calls": [finish]}))
    assert isinstance(run, Trajectory)
    assert (run.final_answer, run.flags) == ("42", ())


def test_files_of_other_formats_are_rejected_once(tmp_path: Path) -> None:
    said = {"source": "agent", "message": "x"}
    run, rejection = read_documents(tmp_path, a=document(said), b=[{"reward": 1}, {"reward": 2}])
    assert isinstance(run, Trajectory) and isinstance(rejection, Rejection)
    assert (rejection.source, rejection.reason) == ("b.json", "not_this_format")


def test_a_document_without_anything_of_an_agent_is_a_run_without_an_answer(tmp_path: Path) -> None:
    (run,) = read_documents(tmp_path, a=document())
    assert isinstance(run, Trajectory)
    assert (run.flags, run.calls, run.task) == (("no_answer",), [], "Do it")


def test_documents_a_line_are_trajectories_of_their_own(tmp_path: Path) -> None:
    lines = [orjson.dumps(document({"source": "agent", "message": str(number)})) for number in range(3)]
    (tmp_path / "many.jsonl").write_bytes(b"\n".join(lines))
    assert [run.final_answer for run in trajectories(tmp_path)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("record", "ours"),
    [
        ({"schema_version": "ATIF-v1.8"}, True),
        ({"agent": {}, "steps": [{"step_id": 1, "source": "user"}]}, True),
        ({"schema_version": "1.0", "steps": []}, False),
        ({"agent": "x", "steps": [{"step_id": 1, "source": "user"}]}, False),
        ([], False),
    ],
)
def test_documents_are_recognised(record: Any, ours: bool) -> None:
    assert detect(Sample((record,))) is ours


def test_the_golden_files_of_others_load() -> None:
    golden = data("atif/golden/openhands")
    items = read(golden)
    runs = [item for item in items if isinstance(item, Trajectory)]
    assert len(runs) == 2
    assert [item.reason for item in items if isinstance(item, Rejection)] == ["not_this_format"] * 2
    for run in runs:
        check(run)
        assert run.usage is not None
        assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (220, 80, 0.00135)
    assert [step.call.name for step in runs[0].calls if step.call] == ["str_replace_editor", "finish"]
    assert runs[0].final_answer == "Task complete. Created /app/hello.txt with 'Hello, world!'"


def test_documents_beside_files_of_a_general_format_decide_what_a_drop_is(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(orjson.dumps([{"messages": [{"role": "assistant", "content": "general"}]}]))
    (tmp_path / "b.json").write_bytes(orjson.dumps(document({"source": "agent", "message": "specific"})))
    rejection, run = read(tmp_path)
    assert isinstance(run, Trajectory) and run.format == "atif"
    assert isinstance(rejection, Rejection) and rejection.reason == "not_this_format"


def test_context_and_empty_messages_of_the_client_are_not_the_task(tmp_path: Path) -> None:
    """Harbor b7476c19 writes user steps of Codex and Gemini CLI as they stand in their sessions."""
    messages = (
        "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>",
        "<session_context>\nThis is the Gemini CLI.\n</session_context>",
        "Fix the bug.",
        "\n",
    )
    steps = [{"step_id": number, "source": "user", "message": text} for number, text in enumerate(messages, 1)]
    said = {"step_id": 6, "source": "agent", "message": "Done."}
    (tmp_path / "a.json").write_bytes(orjson.dumps(document() | {"steps": [*steps, said]}))
    (run,) = trajectories(tmp_path)
    assert run.task == "Fix the bug."
    assert [turn.user_message for turn in run.turns] == ["Fix the bug."]


def test_a_command_of_codex_fails_by_the_exit_code_in_its_output(tmp_path: Path) -> None:
    outputs = ("Wall time: 1 seconds\nProcess exited with code 3\nOutput:\n", "Exit code: 0\nOutput:\nerror: none\n")
    step = {
        "step_id": 2,
        "source": "agent",
        "message": "",
        "tool_calls": [
            {"tool_call_id": str(number), "function_name": "exec_command", "arguments": {"cmd": "x"}}
            for number in range(len(outputs))
        ],
        "observation": {
            "results": [{"source_call_id": str(number), "content": text} for number, text in enumerate(outputs)]
        },
    }
    (tmp_path / "a.json").write_bytes(orjson.dumps(document(step)))
    (run,) = trajectories(tmp_path)
    assert [call.result and call.result.error for call in run.calls] == ["exit code 3", None]


def test_a_reference_finds_the_file_with_the_prefix_of_its_own(tmp_path: Path) -> None:
    """Golden files of Harbor b7476c19: `a.trajectory.json` continues in `trajectory.cont-1.json`."""
    for name in ("hello", "hello-again"):
        first = document({"source": "agent", "message": name}, continued_trajectory_ref="trajectory.cont-1.json")
        (tmp_path / f"{name}.trajectory.json").write_bytes(orjson.dumps(first))
        more = document({"source": "agent", "message": f"{name} continued"}) | {"steps": []}
        more["steps"] = [{"step_id": 1, "source": "agent", "message": f"{name} continued"}]
        (tmp_path / f"{name}.trajectory.cont-1.json").write_bytes(orjson.dumps(more))
    assert [run.final_answer for run in trajectories(tmp_path)] == ["hello-again continued", "hello continued"]


def test_calls_of_many_documents_are_counted_once(tmp_path: Path) -> None:
    for number in range(4):
        call = {"tool_call_id": f"c{number}", "function_name": "search", "arguments": {}}
        results = {"results": [{"source_call_id": f"c{number}", "content": "found"}]}
        step = {"source": "agent", "message": "", "tool_calls": [call], "observation": results}
        (tmp_path / f"{number}.json").write_bytes(orjson.dumps(document(step)))
    report = ImportReport()
    assert len(list(report.read(FORMATS["atif"], files_of(tmp_path)))) == 4
    assert (report.summary.calls_in_source, report.summary.calls) == (4, 4)


def test_the_task_of_terminus_stands_in_its_prompt(tmp_path: Path) -> None:
    prompt = "Answer in JSON.\n\nTask Description:\nWrite hello.txt.\n\nCurrent terminal state:\n$"
    told = document({"source": "agent", "message": "Done."})
    told["steps"][0]["message"] = prompt
    (tmp_path / "a.json").write_bytes(orjson.dumps(told))
    (run,) = trajectories(tmp_path)
    assert run.task == "Write hello.txt."


def test_chat_messages_may_stand_in_the_place_of_a_message(tmp_path: Path) -> None:
    asked = {"role": "user", "content": "How warm is it?"}
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("in", "out")]
    answer = {"role": "assistant", "content": None, "reasoning": "I need both.", "tool_calls": calls}
    shown = [{"role": "tool", "tool_call_id": name, "content": name} for name in ("in", "out")]
    steps = [
        {"source": "user", "message": [{"role": "system", "content": "You measure."}, asked]},
        {
            "source": "agent",
            "message": answer,
            "tool_calls": [{"tool_call_id": name, "function_name": name, "arguments": {}} for name in ("in", "out")],
        },
        {
            "source": "system",
            "message": None,
            "observation": {"results": [{"source_call_id": name, "content": name} for name in ("out", "in")]},
        },
        {"source": "user", "message": [asked, answer, *shown]},
        {"source": "agent", "message": "Both are warm."},
    ]
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    (run,) = read_documents(tmp_path, one={**document(), "steps": numbered})
    assert isinstance(run, Trajectory)
    check(run)
    assert [(step.call.name, run.piece(step.result.content)) for step in run.calls if step.call and step.result] == [
        ("in", "in"),
        ("out", "out"),
    ]
    assert run.piece(run.calls[0].thought) == "I need both."
    assert [turn.user_message for turn in run.turns] == ["How warm is it?"]
    assert (run.agents[0].description, run.final_answer) == ("You measure.", "Both are warm.")
