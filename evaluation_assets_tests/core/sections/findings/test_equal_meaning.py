"""What is found in a run does not depend on how frameworks, servers and models write the same thing."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evaluation_assets
from evaluation_assets.core.sections.findings.detecting import detected

Messages = list[dict[str, Any]]

TICKETS = [
    {"ticket": "HAT276", "date": "2024-05-26", "price": 1155},
    {"ticket": "HAT042", "date": "2024-05-27", "price": 1482},
]


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def called(number: int, tool: str, arguments: dict[str, Any], result: Any) -> Messages:
    call = {"id": f"call_{number}", "type": "function"}
    function = {"name": tool, "arguments": json.dumps(arguments)}
    content = result if isinstance(result, str) else json.dumps(result)
    return [
        {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": content},
    ]


RIGHT = [
    said("system", "You book trips. Tickets are refunded in full within 24 hours, and at half their price after that."),
    said("user", "Move trip H9ZU1C to the 26th of May, please. My card ends in 7359."),
    *called(1, "think", {"thought": "Since Omar wants another day, Lisbon Airways has to be asked."}, ""),
    *called(2, "get_trip", {"trip_id": "H9ZU1C"}, {"trip_id": "H9ZU1C", "seat": "economy", "card": "card_997359"}),
    *called(3, "find_tickets", {"from_date": "2024-05-26"}, TICKETS),
    said("assistant", "HAT276 on May 26, 2024 and HAT042 on May 27, 2024 come to $2,637. You booked over 24 hours ago"),
    said("user", "Fine, I take both, and I want to speak to somebody."),
    *called(4, "update_trip", {"trip_id": "H9ZU1C", "total": 2637}, {"trip_id": "H9ZU1C", "total": 2637}),
    *called(5, "transfer_to_human_agents", {"summary": "Wants to speak to somebody."}, "Transfer successful"),
]  # fmt: skip
WRONG = [
    *RIGHT[:2],
    *called(2, "get_trip", {"trip_id": "H9ZU1C"}, {"trip_id": "H9ZU1C", "seat": "economy", "card": "card_997359"}),
    *called(3, "update_trip", {"trip_id": "H9ZU1C", "day": "26"}, {"error": "trip H9ZU1C is locked"}),
    *called(4, "find_tickets", {"from_date": "2024-05-26"}, TICKETS),
    said("assistant", "HAT276 on May 21, 2024 and HAT042 on May 27, 2024 come to $2,673."),
]


def in_results(change: Callable[[Any], str]) -> Callable[[Messages], Messages]:
    def changed(message: dict[str, Any]) -> dict[str, Any]:
        if message["role"] != "tool":
            return message
        try:
            return {**message, "content": change(json.loads(message["content"]))}
        except ValueError:
            return {**message, "content": change(message["content"])}

    return lambda messages: [changed(message) for message in messages]


def in_names(change: Callable[[str], str]) -> Callable[[Messages], Messages]:
    def changed(messages: Messages) -> Messages:
        copied = copy.deepcopy(messages)
        for message in copied:
            for call in message.get("tool_calls", ()):
                call["function"]["name"] = change(call["function"]["name"])
        return copied

    return changed


def in_answers(pattern: str, replacement: str) -> Callable[[Messages], Messages]:
    def changed(message: dict[str, Any]) -> dict[str, Any]:
        is_answer = message["role"] == "assistant" and message["content"]
        return {**message, "content": re.sub(pattern, replacement, message["content"])} if is_answer else message

    return lambda messages: [changed(message) for message in messages]


def written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def as_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_texts(each) for name, each in value.items()}
    return [as_texts(each) for each in value] if isinstance(value, list) else str(value)


FORMS: dict[str, Callable[[Messages], Messages]] = {
    "as it is": lambda messages: messages,
    "results of MCP": in_results(
        lambda value: json.dumps({"content": [{"type": "text", "text": written(value)}], "isError": "error" in value})
    ),
    "blocks of text": in_results(lambda value: json.dumps([{"type": "text", "text": written(value)}])),
    "results in a field": in_results(lambda value: json.dumps({"result": value})),
    "results in a field, as text": in_results(lambda value: json.dumps({"output": written(value)})),
    "results below a heading": in_results(lambda value: f"Result:\n{written(value)}"),
    "results above a remark": in_results(lambda value: written(value) + ("\n\n[1 of 1 shown]" if value else "")),
    "results that Python prints": in_results(lambda value: value if isinstance(value, str) else repr(value)),
    "indented results": in_results(lambda value: value if isinstance(value, str) else json.dumps(value, indent=2)),
    "numbers as texts": in_results(lambda value: written(as_texts(value))),
    "tools of a server": in_names(lambda name: f"mcp__order_desk__{name}"),
    "names in camel case": in_names(lambda name: re.sub(r"_(\w)", lambda match: match[1].upper(), name)),
    "bold figures": in_answers(r"\$[\d,]+|(?<=May )\d+|\b2024|24(?= h)", r"**\g<0>**"),
    "bold dates": in_answers(r"May \d+(?=, 2024)", r"**\g<0>**"),
    "dates as numbers": in_answers(r"May (\d+), 2024", r"05/\1/2024"),
    "unbroken dates": in_answers(r"May (\d+), 2024", "May\u00a0\\1,\u00a02024"),
    "dates by day": in_answers(r"May (\d+), 2024", r"\1 May 2024"),
    "another currency sign": in_answers(r"\$([\d,]+)", r"USD \1.00"),
    "without instructions": lambda messages: messages[1:],
    "with a polite ending": lambda messages: [
        *messages, said("user", "Thank you so much!"), said("assistant", "You are welcome! Have a great day."),
    ],
}  # fmt: skip


def kinds(folder: Path, messages: Messages) -> list[str]:
    file = folder / "run.json"
    file.write_text(json.dumps({"messages": messages}))
    (run,) = evaluation_assets.read(file).trajectories
    return sorted(finding.kind for finding in detected(run))


@pytest.mark.parametrize("form", FORMS)
def test_a_run_without_a_fault_has_no_finding_in_any_form(tmp_path: Path, form: str) -> None:
    assert kinds(tmp_path, FORMS[form](RIGHT)) == []


@pytest.mark.parametrize("form", FORMS)
def test_the_faults_of_a_run_are_found_in_every_form(tmp_path: Path, form: str) -> None:
    assert kinds(tmp_path, FORMS[form](WRONG)) == ["contradicted_answer", "ignored_error"]


@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_is_cut_off_is_so_in_every_form(tmp_path: Path, form: str) -> None:
    assert kinds(tmp_path, FORMS[form](RIGHT[:10])) == ["cut_off"]
