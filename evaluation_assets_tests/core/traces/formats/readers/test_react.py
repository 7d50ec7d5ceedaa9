"""Transcripts in the manner of ReAct, in texts, records and chat messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, read, trajectories

RUN = """Question: Who is older, Ada or Bob?
Thought 1: I search Ada.
Action 1: Search[Ada]
Observation 1: Ada was born in 1815.
Thought 2: Now Bob.
Action 2: Search[Bob]
Observation 2: Bob was born in 1900.
Thought 3: Ada is older.
Action 3: Finish[Ada]
"""
CALLS = [
    ("Search", {"input": "Ada"}, "Ada was born in 1815."),
    ("Search", {"input": "Bob"}, "Bob was born in 1900."),
    ("Finish", {"answer": "Ada"}, None),
]


def saved(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content) + "\n")
    return path


def test_a_text_is_a_run_for_each_question(tmp_path: Path) -> None:
    other = RUN.replace("Ada or Bob", "Cy or Bob").replace(
        "Finish[Ada]", "Finish[Cy]\nObservation 3: Answer is CORRECT"
    )
    path = saved(tmp_path, "log.txt", f"#### TRIAL 1\n{RUN}\n{other}")
    one, two = trajectories(path)
    for run in (one, two):
        check(run)
    assert (one.task, one.final_answer, calls_of(one)) == ("Who is older, Ada or Bob?", "Ada", CALLS)
    assert (two.task, two.final_answer) == ("Who is older, Cy or Bob?", "Cy")
    assert [one.piece(step.thought) for step in one.calls] == ["I search Ada.", "Now Bob.", "Ada is older."]
    assert summary_of(path).trust == "complete"


def test_what_a_log_says_of_a_run_is_no_part_of_it(tmp_path: Path) -> None:
    right = f"{RUN}Observation 3: Answer is CORRECT\nCorrect answer: Ada\n"
    wrong = f"{RUN.replace('Bob', 'Cy')}Observation 3: Answer is INCORRECT\nCorrect answer: Cy\n\n#### BEGIN TRIAL 2\n"
    halted = f"{RUN.replace('Bob', 'Di').partition('Thought 3')[0]}Correct answer: Di\n"
    ended = f"{RUN.replace('Bob', 'Ed')}Observation 3: Episode finished, reward = 0\n"
    path = saved(tmp_path, "log.txt", f"{right}\n--- BEGIN INCORRECT ---\n\n{wrong}\n{halted}\n{ended}")
    runs = trajectories(path)
    assert [(run.success, run.reference_answer) for run in runs] == [
        (True, "Ada"), (False, "Cy"), (None, "Di"), (False, None)
    ]  # fmt: skip
    for run in runs:
        check(run)
        assert not any(words in run.text for words in ("orrect answer", "CORRECT", "BEGIN", "reward"))
    assert [calls_of(run)[-1][2] for run in runs] == ["", "", "Di was born in 1900.", ""]


def test_an_answer_that_a_tool_quotes_is_no_verdict(tmp_path: Path) -> None:
    quoted = RUN.replace("Ada was born in 1815.", "Quiz.\nCorrect answer: 1815\nAnswer is CORRECT")
    (run,) = trajectories(saved(tmp_path, "log.txt", quoted))
    assert (run.success, run.reference_answer) == (None, None)
    assert "Correct answer: 1815" in run.text


def test_a_record_keeps_what_it_says_of_the_run(tmp_path: Path) -> None:
    (run,) = trajectories(saved(tmp_path, "d.jsonl", {"task_id": "a-1", "trajectory": RUN, "success": False}))
    assert (run.task_id, run.success, calls_of(run)) == ("a-1", False, CALLS)


@pytest.mark.parametrize(("given", "said"), [("prompt", "completion"), ("input", "output")])
def test_examples_in_a_prompt_are_no_runs(tmp_path: Path, given: str, said: str) -> None:
    question, _, acts = RUN.partition("\n")
    example = RUN.replace("Ada", "Cy")
    path = saved(tmp_path, "data.json", {given: f"Answer.\n\n{example}\n{question}", said: acts, "score": 1})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, calls_of(run)) == ("Who is older, Ada or Bob?", "Ada", CALLS)
    assert run.labels == {"score": 1}


@pytest.mark.parametrize("between", ["\n", "\n(END OF EXAMPLES)\n", ""])
@pytest.mark.parametrize("known", [True, False])
def test_examples_before_the_question_of_a_record_are_no_runs(tmp_path: Path, between: str, known: bool) -> None:
    text = f"Answer.\n\n{RUN.replace('Ada', 'Cy')}{between}{RUN}Observation 3: Answer is CORRECT\n"
    beside = {"question": "Who is older, Ada or Bob?"} if known else {}
    runs = trajectories(saved(tmp_path, "d.jsonl", {**beside, "correct": True, "prompt": text}))
    assert between == "" or runs[-1].task == "Who is older, Ada or Bob?"
    if known:
        (run,) = runs
        assert (run.success, [name for name, _, _ in calls_of(run)]) == (True, ["Search", "Search", "Finish"])


def test_a_question_that_an_observation_quotes_is_no_other_run(tmp_path: Path) -> None:
    quoted = RUN.replace("Ada was born in 1815.", "A page.\nQuestion: When was Ada born?\n1815.")
    (run,) = trajectories(saved(tmp_path, "log.txt", quoted))
    assert (run.task, len(run.calls)) == ("Who is older, Ada or Bob?", 3)


def test_a_record_with_several_questions_says_nothing_of_one(tmp_path: Path) -> None:
    runs = trajectories(saved(tmp_path, "d.jsonl", {"task_id": "all", "log": f"{RUN}\n{RUN}", "success": True}))
    assert [(run.task_id == "all", run.success) for run in runs] == [(False, None)] * 2


LOG = """\x1b[1m> Entering new AgentExecutor chain...\x1b[0m
\x1b[32;1m\x1b[1;3mThought: I need the sum.
Action: calculator
Action Input: {"of": [1, 2]}\x1b[0m
Observation: \x1b[36;1m\x1b[1;3m3\x1b[0m
Thought: I now know the final answer.
Final Answer: It is 3.

\x1b[1m> Finished chain.\x1b[0m
"""


def test_what_langchain_prints_is_a_run(tmp_path: Path) -> None:
    (run,) = trajectories(saved(tmp_path, "log.txt", LOG))
    check(run)
    assert (calls_of(run), run.final_answer) == ([("calculator", {"of": [1, 2]}, "3")], "It is 3.")


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ("search\nAction Input: Ada Lovelace", ("search", {"input": "Ada Lovelace"})),
        ('search("Ada Lovelace")', ("search", {"input": "Ada Lovelace"})),
        ("go to cabinet 1", ("go", {"input": "to cabinet 1"})),
        ("look", ("look", {})),
    ],
)
def test_actions_that_users_observe_in_messages_are_calls(
    tmp_path: Path, action: str, call: tuple[str, dict[str, Any]]
) -> None:
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": f"THOUGHT: I try.\n\nACTION: {action}", "usage": {"prompt_tokens": 7}},
        {"role": "user", "content": "Observation: found"},
        {"role": "assistant", "content": "Thought: That is it.\nFinal Answer: Here.", "usage": {"prompt_tokens": 8}},
    ]
    (run,) = trajectories(saved(tmp_path, "d.jsonl", {"id": "1", "messages": messages}))
    check(run)
    assert calls_of(run) == [(*call, "found")]
    assert (run.task, run.final_answer, len(run.turns)) == ("Find it.", "Here.", 1)
    assert run.usage is not None and run.usage.input_tokens == 15


def test_a_whole_run_in_one_answer_is_read_with_its_usage_once(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": RUN.partition("\n")[2], "usage": {"prompt_tokens": 9}}
    asked = {"role": "user", "content": "Who is older?"}
    (run,) = trajectories(saved(tmp_path, "d.jsonl", {"messages": [asked, answer]}))
    assert calls_of(run) == CALLS
    assert run.usage is not None and run.usage.input_tokens == 9


@pytest.mark.parametrize("text", ["Action: none.\n", "Thought: hm.\nFinal Answer: 3\n", "Observation: it rains.\n"])
def test_a_text_without_an_action_that_an_observation_follows_is_no_run(tmp_path: Path, text: str) -> None:
    (item,) = read(saved(tmp_path, "d.jsonl", {"log": text}), format_name="react")
    assert isinstance(item, Rejection) and item.reason == "not_this_format"


def test_a_question_after_a_run_that_has_finished_is_one_of_its_own(tmp_path: Path) -> None:
    """Logs of Reflexion have all runs of a trial in a row, with a line of context before each question."""
    quoted = RUN.replace("in 1815.", "in 1815.\nQuestion: when?")
    path = tmp_path / "log.txt"
    path.write_text(f"{quoted}Observation 3: Answer is CORRECT\n\nContext:\n{RUN}")
    runs = trajectories(path)
    assert [(run.task, len(run.calls)) for run in runs] == [("Who is older, Ada or Bob?", 3)] * 2


OBJECT = '{"action": "look_up", "action_input": {"order": 17}}'


@pytest.mark.parametrize(
    "action",
    [
        f"Action:\n```json\n{OBJECT}\n```",  # LangChain's structured chat
        f"Action:\n```\n{OBJECT}\n```\nI wait.",
        f"Action: {OBJECT}<end_action>",
        'Action: {"name": "look_up", "arguments": {"order": 17}}',
        "Action: {'tool': 'look_up', 'args': {'order': 17}}",
        'Action: look_up\nAction Input: ```json\n{"order": 17}\n```',
        "Action: look_up\nAction Input: {'order': 17}",
    ],
)
@pytest.mark.parametrize(
    "answer",
    [
        "Final Answer: It is paid.",
        'Action:\n```json\n{"action": "Final Answer", "action_input": "It is paid."}\n```',
        'Action: {"name": "final_answer", "arguments": {"answer": "It is paid."}}',
    ],
)
def test_an_action_may_be_an_object(tmp_path: Path, action: str, answer: str) -> None:
    said = ["Is order 17 paid?", f"Thought: I look.\n{action}", "Observation: paid", f"Thought: It is.\n{answer}"]
    roles = ["user", "assistant", "user", "assistant"]
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    path = saved(tmp_path, "drop.jsonl", {"messages": messages})
    (run,) = trajectories(path)
    assert calls_of(run)[0] == ("look_up", {"order": 17}, "paid")
    assert (run.task, run.final_answer) == ("Is order 17 paid?", "It is paid.")
    assert summary_of(path).trust == "complete"


def test_an_action_object_may_have_a_text_or_nothing_as_input(tmp_path: Path) -> None:
    text = (
        'Question: Who?\nThought: I search.\nAction: {"action": "Search", "action_input": "Ada"}\nObservation: 1815.\n'
        "Thought: What day is it?\nAction: Today\nAction Input: {}\nObservation: Monday.\n"
    )
    (run,) = trajectories(saved(tmp_path, "log.txt", f"{text}Thought: I know.\nFinal Answer: Ada.\n"))
    assert calls_of(run) == [("Search", {"input": "Ada"}, "1815."), ("Today", {}, "Monday.")]
    assert run.final_answer == "Ada."
