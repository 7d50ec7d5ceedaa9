"""Calls as special tokens in the texts of chat messages, by the chat templates of the models."""

from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.messages.token_calls import token_calls
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories

ASKED = {"role": "user", "content": "Is order 17 paid?"}
PAID = {"role": "tool", "content": "paid"}
ANSWER = {"role": "assistant", "content": "It is paid."}
GIVEN = '{"order": 17}'
WRITTEN = {
    "DeepSeek R1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look_up\n```json\n"
    + GIVEN
    + "\n```"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "DeepSeek V3.1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look_up<｜tool▁sep｜>{GIVEN}<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
    "DeepSeek V3.2": '\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="order" '
    'string="false">17</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "Kimi K2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.look_up:0<|tool_call_argument_begin|>"
    f"{GIVEN}<|tool_call_end|><|tool_calls_section_end|>",
    "gpt-oss": "<|start|>assistant<|channel|>commentary to=functions.look_up <|constrain|>json<|message|>"
    f"{GIVEN}<|call|>",
    "gpt-oss without its end": f"<|start|>assistant to=functions.look_up<|channel|>commentary json<|message|>{GIVEN}",
    "Mistral Nemo": '[TOOL_CALLS] [{"name": "look_up", "arguments": {"order": 17}, "id": "abcdefghi"}]</s>',
    "Mistral Large 3": f"[TOOL_CALLS]look_up[ARGS]{GIVEN}",
    "Magistral": f"[TOOL_CALLS]look_up[CALL_ID]abcdefghi[ARGS]{GIVEN}",
    "Llama": '<|python_tag|>{"name": "look_up", "parameters": {"order": 17}}<|eom_id|>',
    "Granite": '<|tool_call|>[{"name": "look_up", "arguments": {"order": 17}}]<|end_of_text|>',
    "Phi": '<|tool_call|>[{"name": "look_up", "arguments": {"order": 17}}]<|/tool_call|>',
    "Nemotron": '<TOOLCALL>[{"name": "look_up", "arguments": {"order": 17}}]</TOOLCALL>',
    "Jamba": '<tool_calls>[\n {"name": "look_up", "arguments": {"order": 17}}\n]</tool_calls>',
    "Command R": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "look_up", "parameters": {"order": 17}}]'
    "<|END_ACTION|>",
    "InternLM": '<|action_start|><|plugin|>\n{"name": "look_up", "parameters": {"order": 17}}\n<|action_end|>',
    "Glaive": '<functioncall> {"name": "look_up", "arguments": \'' + GIVEN + "'} <|endoftext|>",
    "MiniMax": '\n<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="order">[17]</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
}


def read(folder: Path, *messages: dict[str, Any]) -> Trajectory:
    (run,) = trajectories(written(folder, {"messages": list(messages)}))
    check(run)
    return run


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("words", ["I look.", ""])
def test_calls_in_tokens_are_calls_with_their_results(tmp_path: Path, name: str, words: str) -> None:
    messages = [ASKED, said(words + WRITTEN[name]), PAID, ANSWER]
    run = read(tmp_path, *messages)
    assert calls_of(run) == [("look_up", {"order": [17] if name == "MiniMax" else 17}, "paid")]
    assert [run.piece(step.message) for step in run.steps if step.message] == [*filter(None, [words]), "It is paid."]
    assert (run.final_answer, len(run.turns)) == ("It is paid.", 1)
    assert summary_of(written(tmp_path, {"messages": messages})).trust == "complete"


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("quoting", ["It is written so:\n```\n{}\n```\nDone.", "<think>{}</think>No.", "It is `{}`."])
def test_calls_that_are_quoted_or_thought_of_are_none(tmp_path: Path, name: str, quoting: str) -> None:
    quoted = WRITTEN[name].strip() if "\n" in quoting else WRITTEN[name].replace("\n", "")
    run = read(tmp_path, {"role": "user", "content": WRITTEN[name]}, said(quoting.format(quoted)))
    assert (run.task, run.calls) == (WRITTEN[name], [])


@pytest.mark.parametrize("name", WRITTEN)
def test_a_call_that_is_cut_off_is_doubted(tmp_path: Path, name: str) -> None:
    cut = WRITTEN[name][: WRITTEN[name].index("17")]
    path = written(tmp_path, {"messages": [ASKED, said(cut)]})
    (run,) = trajectories(path)
    assert (run.calls, summary_of(path).trust) == ([], "doubtful")


def test_several_calls_have_the_results_that_name_them(tmp_path: Path) -> None:
    calls = "".join(
        f"<|tool_call_begin|>functions.look_up:{number}<|tool_call_argument_begin|>"
        f'{{"order": {number}}}<|tool_call_end|>'
        for number in (4, 5)
    )
    results = [{**PAID, "tool_call_id": f"functions.look_up:{number}", "content": f"{number}"} for number in (5, 4)]
    assert calls_of(read(tmp_path, ASKED, said(calls), *results)) == [
        ("look_up", {"order": 4}, "4"),
        ("look_up", {"order": 5}, "5"),
    ]
    others = [{**PAID, "tool_call_id": f"call_{number}", "content": f"{number}"} for number in (4, 5)]
    assert [result for _, _, result in calls_of(read(tmp_path, ASKED, said(calls), *others))] == ["4", "5"]


def test_channels_are_reasoning_calls_and_words(tmp_path: Path) -> None:
    first = f"<|channel|>analysis<|message|>I look.<|end|>{WRITTEN['gpt-oss']}"
    last = (
        "<|channel|>analysis<|message|>Paid.<|end|><|start|>assistant<|channel|>final<|message|>It is paid.<|return|>"
    )
    run = read(tmp_path, ASKED, said(first), PAID, said(last))
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I look.", "Paid."]
    assert run.final_answer == "It is paid."


def test_llama_calls_built_in_tools_and_writes_code(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        ASKED,
        said('<|python_tag|>brave_search.call(query="order 17")<|eom_id|>'),
        {"role": "ipython", "content": "paid"},
        said("<|python_tag|>print(1)"),
        {"role": "ipython", "content": "1"},
    )
    assert calls_of(run) == [
        ("brave_search", {"query": "order 17"}, "paid"),
        ("code_interpreter", {"code": "print(1)"}, "1"),
    ]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ("<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>paid<｜tool▁output▁end｜><｜tool▁outputs▁end｜>", None),
        (
            "<function_results>\n<result>\n<tool_name>look_up</tool_name>\n<stdout>\npaid\n</stdout>\n</result>\n"
            "</function_results>",
            None,
        ),
        ("<function_results>\n<error>\npaid\n</error>\n</function_results>", "paid"),
    ],
)
def test_results_in_elements_or_tokens_are_no_prompts(tmp_path: Path, result: str, error: str | None) -> None:
    run = read(tmp_path, ASKED, said(WRITTEN["DeepSeek V3.1"]), {"role": "user", "content": result}, ANSWER)
    assert (calls_of(run), len(run.turns)) == ([("look_up", {"order": 17}, "paid")], 1)
    assert [step.result and step.result.error for step in run.calls] == [error]


def test_what_a_user_may_have_said_is_doubted_as_a_result(tmp_path: Path) -> None:
    messages = [ASKED, said(WRITTEN["Llama"]), {"role": "user", "content": "paid"}, ANSWER]
    path = written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    assert (len(run.calls), summary_of(path).trust) == (1, "doubtful")


def test_a_call_that_no_server_parsed_among_others_was_not_run(tmp_path: Path) -> None:
    parsed = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": GIVEN}}
    messages = [
        ASKED,
        {"role": "assistant", "tool_calls": [parsed]},
        {**PAID, "tool_call_id": "c1"},
        said(WRITTEN["Llama"]),
    ]
    path = written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    assert (len(run.calls), summary_of(path).trust) == (1, "doubtful")


@pytest.mark.parametrize(
    "piece",
    [
        "<|tool_call_begin|>", "<|channel|>", "<|channel|>a<|message|>", "[TOOL_CALLS]", "[TOOL_CALLS]a[ARGS]{",
        "<TOOLCALL>[", "<TOOLCALL>{}",
        "<|python_tag|>{", '\n<invoke name="a">', '\n<invoke name="a"><parameter name="b">', "```\n", "<｜tool▁sep｜>",
        "<|start|>", '<|python_tag|>a.call(b="',
    ],
)  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_text(piece: str) -> None:
    begun = perf_counter()
    token_calls(piece * 20_000)
    assert perf_counter() - begun < 5
