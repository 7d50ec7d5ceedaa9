r"""Rollouts of reinforcement learning as verl dumps them: a prompt and what was generated, as texts, with a score.

    {"input": "system\nYou ...\nuser\nHow many?\nassistant\n", "output": "...", "gts": "4", "score": 1.0, "step": 7}

The texts were decoded without the special tokens of the template, so that the names of the roles remain. What tools and
users answered stands in the output.
"""

import re
from typing import Any

from evaluation_assets.core.traces.formats.messages.elements import element_in
from evaluation_assets.core.traces.formats.outcome_words import outcome_of
from evaluation_assets.core.traces.formats.untyped import object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_objects

_TEXTS = ("input", "output")
_READ = (*_TEXTS, "score", "gts", "step", "acc")
_USER, _AGENT = "user\n", "\nassistant\n"
_RESULT = f"{_USER}<tool_response>"
_MARKS = re.compile(r"<\|im_start\|>(\w+)\n|<\|im_end\|>\n?")
"""The tokens of a template, where the texts were decoded with them."""
_SYSTEM = re.compile(r"system\n(.*?)\n(?=user\n)", re.DOTALL)


def is_rollout(data: Any) -> bool:
    """Whether a record is a line of such a dump."""
    record = object_in(data)
    is_scored = isinstance(record.get("score"), int | float) and isinstance(record.get("step"), int)
    return is_scored and all(isinstance(record.get(name), str) for name in _TEXTS)


def rollout_record(data: JsonObject) -> JsonObject:
    """The record with its messages and tools.

    The score is the outcome, unless the function that rewards also says whether the answer is right.
    """
    data = {**data, **{name: _MARKS.sub(_role, data[name]) for name in _TEXTS}}
    system = _SYSTEM.match(data["input"])
    prompt = data["input"] if system is None else data["input"][system.end() :]
    if prompt.startswith(_USER) and _AGENT in prompt:
        messages = _messages(prompt.removeprefix(_USER) + data["output"])
    else:  # of a model or template without names of roles
        system, messages = None, [_message("user", data["input"]), _message("assistant", data["output"])]
    tools = [] if system is None else list(json_objects(element_in(system[1], "tools") or ""))
    right = outcome_of(data.get("acc"))
    return {
        **{name: value for name, value in data.items() if name not in _READ},
        **({"reward": data["score"]} if right is None else {"score": data["score"], "success": right}),
        "ground_truth": data.get("gts"),
        "metadata": {"step": data["step"]},
        "messages": [*([] if system is None else [_message("system", system[1])]), *messages],
        **({"tools": tools} if tools else {}),
    }


def _messages(text: str) -> list[JsonObject]:
    """The messages of a text that begins with what the user said. Each answer is followed by a user or by results."""
    asked, *answers = text.split(_AGENT)
    messages = [_message("user", asked)]
    said: list[str] = []
    for number, answer in enumerate(answers, 1):
        place, is_last = answer.find(_RESULT), number == len(answers)
        if place < 0 and not is_last:
            place = answer.rfind(_USER)
        if place < 0 and not is_last:  # the name of a role in the words of an agent
            said += [answer, _AGENT]
            continue
        end = len(answer) if place < 0 else place
        messages.append(_message("assistant", "".join([*said, answer[:end]]).strip()))
        if place >= 0:
            messages.append(_message("user", answer[end + len(_USER) :]))
        said = []
    return messages


def _role(mark: re.Match[str]) -> str:
    return "\n" * (mark.start() > 0) + f"{mark[1]}\n" if mark[1] else ""


def _message(role: str, content: str) -> JsonObject:
    return {"role": role, "content": content}
