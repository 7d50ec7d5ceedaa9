"""The XML-tagged text format: one JSON record a line, one string of tags in it.

Shapes that occur: `raw_response`; `sft_data.output` with JSON in `<tool_call>`; and records that were judged before,
whose text stands in `full_response_with_evaluation(s)` with the evaluations in it. These are taken out again.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson

from evaluation_assets.core.formats.base import Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.formats.tags import ANSWER, DEFAULT_SERVERS, JSON_CALL, Block, read_structure
from evaluation_assets.core.trajectories.failures import failure_in
from evaluation_assets.core.trajectories.identity import task_id_of
from evaluation_assets.core.trajectories.model import (
    Agent,
    Interaction,
    JsonObject,
    Repair,
    Step,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)

NAME = "tagged"
DESCRIPTION = "XML-tagged text: think, server, result and answer tags in one string a record"
DETECTION = "a record with raw_response, sft_data.output or full_response_with_evaluation(s) that is a text"

_JUDGED_TEXT = ("full_response_with_evaluations", "full_response_with_evaluation")
_TASK = ("task_description", "task", "question", "query", "instruction")
_STEP_LIMIT = re.compile(r"已达最大步骤|最大步数|max(?:imum)?(?: number of)? steps|step limit", re.IGNORECASE)
_INNER_TAG = re.compile(r"\s*<([A-Za-z_][\w.\-]*)(?:\s[^<>]*)?(/?)>")
_CLOSING_TAG_AT_END = re.compile(r"</([A-Za-z_][\w.\-]*)\s*>\Z")
_EVALUATION_START = "<clip_evaluation>"
_EVALUATION_END = "</clip_evaluation>"


def detect(sample: Sample) -> bool:
    """Whether a sample of records is in this format."""
    return any(_text_of(record) is not None for record in sample.records)


def read(records: Iterator[Record | Rejection]) -> Iterator[Trajectory | Rejection]:
    """One trajectory or one rejection a record."""
    for record in records:
        if isinstance(record, Rejection):
            yield record
            continue
        try:
            yield trajectory_of(record)
        except UnusableRecord as problem:
            yield record.rejected(problem)


def trajectory_of(record: Record, servers: tuple[str, ...] = DEFAULT_SERVERS) -> Trajectory:
    """The trajectory in one record.

    Raises:
        UnusableRecord: the record is no object or has no trajectory text.
    """
    data = record.data
    if not isinstance(data, dict):
        raise UnusableRecord("wrong_type", f"a record is a JSON object, this is {_json_type(data)}")
    found = _text_of(data)
    if found is None:
        raise UnusableRecord("no_trajectory_text", _missing_text(data))
    field, text = found
    if not text.strip():
        raise UnusableRecord("no_trajectory_text", f"{field} is empty")
    structure = read_structure(text, servers)
    task = _first_text(data, _TASK) or _first_text(data.get("sft_data"), ("input", *_TASK)) or ""
    final_result = _string(data.get("final_result"))
    answer = next((text[b.inner : b.inner_end].strip() for b in structure.blocks if b.kind == ANSWER), None)
    stopped = final_result is not None and _STEP_LIMIT.search(final_result) is not None
    task_id = task_id_of(data.get("task_id"), task, text)
    repairs = list(structure.repairs)
    interaction = _interaction(text, structure.blocks, answer, repairs)
    repairs.sort(key=lambda repair: repair.offset)
    return Trajectory(
        id=task_id,
        task_id=task_id,
        format=NAME,
        task=task,
        text=text,
        agents=(Agent(id="agent"),),
        turns=(Turn(user_message=task or None, interactions=(interaction,)),),
        final_answer=answer or (None if stopped else final_result),
        reference_answer=_first_text(data, ("reference_answer", "ground_truth")),
        success=data["success"] if isinstance(data.get("success"), bool) else None,
        started_at=_string(data.get("timestamp")),
        duration_s=_number(data.get("duration")),
        repairs=tuple(repairs),
        flags=_flags(stopped, answer),
        labels={"recorded_evaluation": data["evaluation_metadata"]} if "evaluation_metadata" in data else {},
        extra=_own_fields(data, field),
    )


def without_evaluations(text: str) -> str:
    """The text as it was before evaluations were embedded, each behind one line break, after its clips."""
    pieces, position = [], 0
    while (start := text.find(_EVALUATION_START, position)) >= 0:
        end = text.find(_EVALUATION_END, start)
        if end < 0:
            break
        pieces.append(text[position:start].removesuffix("\n"))
        position = end + len(_EVALUATION_END)
    pieces.append(text[position:])
    return "".join(pieces)


def _text_of(data: Any) -> tuple[str, str] | None:
    """The name of the field that holds the trajectory, and its text as the agent wrote it."""
    if not isinstance(data, dict):
        return None
    if isinstance(raw := data.get("raw_response"), str):
        return "raw_response", raw
    for field in _JUDGED_TEXT:
        if isinstance(judged := data.get(field), str):
            return field, without_evaluations(judged)
    sft = data.get("sft_data")
    if isinstance(sft, dict) and isinstance(output := sft.get("output"), str):
        return "sft_data", output
    return None


def _interaction(text: str, blocks: tuple[Block, ...], answer: str | None, repairs: list[Repair]) -> Interaction:
    """Steps that tile the text: each ends with the last result that answers its call, the rest is the last step.

    What is amiss inside a call is added to `repairs`.
    """
    answers = _answers(blocks)
    steps: list[Step] = []
    thoughts: list[Block] = []
    position = 0
    for index, block in enumerate(blocks):
        if block.kind == "thought":
            thoughts.append(block)
        if block.kind != "call":
            continue
        results = [blocks[answer_index] for answer_index in answers.get(index, ())]
        end = max(position, results[-1].end if results else block.end)
        steps.append(
            Step(
                start=position,
                end=end,
                thought=_thought(text, thoughts, text[position : block.start]),
                call=_tool_call(text, block, repairs),
                result=_tool_result(text, results),
            )
        )
        thoughts, position = [], end
    rest = text[position:]
    if rest.strip():
        prose = "" if answer is not None else rest
        thought = _thought(text, thoughts, prose)
        steps.append(Step(start=position, end=len(text), thought=thought, message=answer))
    elif steps:
        steps[-1] = replace(steps[-1], end=len(text))
    return Interaction(agent_id="agent", steps=tuple(steps), response=answer)


def _answers(blocks: tuple[Block, ...]) -> dict[int, list[int]]:
    """Which results answer which call, by index of the block.

    In order: the first result after several calls belongs to the first of them. A further result right behind one
    belongs to the same call; one after new reasoning answers a call only if one still waits.
    """
    answers: dict[int, list[int]] = {}
    waiting: list[int] = []
    answered: int | None = None
    for index, block in enumerate(blocks):
        if block.kind == "call":
            if answered is not None:
                waiting, answered = [], None
            waiting.append(index)
        elif block.kind == "result":
            if waiting:
                answered = waiting.pop(0)
            if answered is not None:
                answers.setdefault(answered, []).append(index)
        else:
            answered = None
    return answers


def _thought(text: str, thoughts: list[Block], prose: str) -> str | None:
    """The reasoning before a call: what stands in reasoning tags, else the words outside of any tag."""
    if thoughts:
        return "\n".join(text[block.inner : block.inner_end].strip() for block in thoughts)
    return prose.strip() or None if "<" not in prose else None


def _tool_call(text: str, block: Block, repairs: list[Repair]) -> ToolCall:
    content = text[block.inner : block.inner_end]
    if block.name == JSON_CALL:
        return _json_call(content)
    tool = _INNER_TAG.match(content)
    if tool is None:
        return ToolCall(name=block.name, server=block.name, raw=content.strip(), arguments=_json_object(content))
    raw = "" if tool[2] else _arguments(content, tool, block.inner, repairs)
    return ToolCall(name=tool[1], server=block.name, raw=raw, arguments=_json_object(raw))


def _arguments(content: str, tool: re.Match[str], offset: int, repairs: list[Repair]) -> str:
    """What stands between a tool's tags. Models mistype the closing one, so any closing tag at the end counts."""
    end = len(content.rstrip())
    closing = _CLOSING_TAG_AT_END.search(content, tool.end(), end)
    if closing is None:
        repairs.append(Repair(tag=tool[1], offset=offset + end, action="closed"))
    elif closing[1] != tool[1]:
        repairs.append(Repair(tag=closing[1], offset=offset + closing.start(), action="matched"))
    return content[tool.end() : closing.start() if closing else end].strip()


def _json_call(content: str) -> ToolCall:
    data = _json_object(content)
    if data is None:
        return ToolCall(name=JSON_CALL, raw=content.strip())
    arguments = data.get("arguments", data.get("parameters"))
    if isinstance(arguments, str):
        arguments = _json_object(arguments)
    return ToolCall(
        name=_string(data.get("name")) or JSON_CALL,
        id=_string(data.get("id")),
        raw=content.strip(),
        arguments=arguments if isinstance(arguments, dict) else None,
    )


def _tool_result(text: str, results: list[Block]) -> ToolResult | None:
    if not results:
        return None
    content = "\n".join(text[block.inner : block.inner_end].strip() for block in results)
    return ToolResult(content=content, error=failure_in(content))


def _flags(stopped: bool, answer: str | None) -> tuple[str, ...]:
    return tuple(flag for flag, applies in (("step_limit", stopped), ("no_answer", not answer)) if applies)


def _own_fields(data: JsonObject, text_field: str) -> JsonObject:
    """The record's fields without its text, so that a result record can give them back."""
    dropped = {"raw_response", "evaluation_metadata", *_JUDGED_TEXT}
    own = {key: value for key, value in data.items() if key not in dropped}
    if text_field == "sft_data":
        own["sft_data"] = {key: value for key, value in data["sft_data"].items() if key != "output"}
    return own


def _missing_text(data: JsonObject) -> str:
    for field in ("raw_response", *_JUDGED_TEXT):
        if field in data:
            return f"{field} is {_json_type(data[field])}, not a text"
    return "none of raw_response, sft_data.output, full_response_with_evaluation(s) is there"


def _json_object(text: str) -> JsonObject | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return data if isinstance(data, dict) else None


def _first_text(data: Any, fields: tuple[str, ...]) -> str | None:
    if not isinstance(data, dict):
        return None
    return next((value for field in fields if isinstance(value := data.get(field), str) and value), None)


def _string(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _json_type(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
