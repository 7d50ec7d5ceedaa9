"""Chat messages of gptme, whose code is run and answered by system messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

FENCE = "```"


def read_chat(folder: Path, *messages: tuple[str, str], **metadata: Any) -> Trajectory:
    lines = [{"role": role, "content": content, "metadata": metadata} for role, content in messages]
    path = folder / "conversation.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    (run,) = trajectories(path)
    return run


def block(words: str, code: str) -> str:
    return f"{FENCE}{words}\n{code}\n{FENCE}"


def test_code_that_a_system_message_answers_is_a_call(tmp_path: Path) -> None:
    run = read_chat(
        tmp_path,
        ("user", "What is here?"),
        ("assistant", f"I look.\n\n{block('shell', 'ls')}"),
        ("system", "Ran command: `ls`\n\nlamp.py"),
        ("assistant", f"{block('save sum.py', '1 + 1')}\nand\n{block('ipython', '1 + 1')}"),
        ("system", "Saved to `sum.py`"),
        ("system", "Executed code block."),
        ("system", "Time: 12:00"),
        ("assistant", f"A lamp, as in {block('python', 'lamp()')}"),
        model="m",
        usage={"input_tokens": 10, "output_tokens": 2},
    )
    assert calls_of(run) == [
        ("shell", {"code": "ls"}, "Ran command: `ls`\n\nlamp.py"),
        ("save", {"about": "sum.py", "code": "1 + 1"}, "Saved to `sum.py`"),
        ("ipython", {"code": "1 + 1"}, "Executed code block.\n\nTime: 12:00"),
    ]
    assert run.final_answer is not None and "lamp()" in run.final_answer
    assert run.usage is not None and run.usage.input_tokens == 30


def test_calls_with_an_id_are_read_too(tmp_path: Path) -> None:
    run = read_chat(
        tmp_path,
        ("user", "What is here?"),
        ("assistant", 'I look.\n@shell(call-1): {"command": "ls"}'),
        ("system", "lamp.py"),
        ("assistant", "A lamp."),
    )
    assert calls_of(run) == [("shell", {"command": "ls"}, "lamp.py")]


def test_code_that_nothing_answers_is_text(tmp_path: Path) -> None:
    run = read_chat(tmp_path, ("system", "Help."), ("user", "How do I sum?"), ("assistant", block("python", "sum(x)")))
    assert calls_of(run) == []
    assert "sum(x)" in run.text


CODE = "I count.\n```python\nprint(1)\n```\nThen:\n```python\nprint(2)\n```"


@pytest.mark.parametrize(
    ("shown", "result", "error"),
    [
        ("exitcode: 0 (execution succeeded)\nCode output: 1", None, None),
        ("exitcode: 1 (execution failed)\nCode output: boom", None, "exit code 1"),
        ("<returncode>1</returncode>\n<output>\nboom\n</output>", None, "exit code 1"),
        ("Output:\n1", "1", None),
    ],
)
def test_code_is_a_call_where_the_user_says_what_it_has_shown(
    tmp_path: Path, shown: str, result: str | None, error: str | None
) -> None:
    texts = [("user", "Count."), *[("assistant", CODE), ("user", shown)] * 2, ("assistant", "Two.")]
    path = written(tmp_path, {"messages": [{"role": role, "content": text} for role, text in texts]})
    (run,) = trajectories(path)
    assert calls_of(run) == [("python", {"code": "print(1)\nprint(2)"}, result or shown)] * 2
    assert [step.result and step.result.error for step in run.calls] == [error] * 2
    assert (len(run.turns), run.final_answer, summary_of(path).trust) == (1, "Two.", "complete")


def test_an_output_that_a_user_quotes_once_is_no_result_and_doubted(tmp_path: Path) -> None:
    texts = [("user", "Count."), ("assistant", CODE), ("user", "Output:\n1"), ("assistant", "Two.")]
    path = written(tmp_path, {"messages": [{"role": role, "content": text} for role, text in texts]})
    assert (len(trajectories(path)[0].turns), summary_of(path).trust) == (2, "doubtful")
