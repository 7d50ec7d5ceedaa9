"""Runs of OSWorld: `traj.jsonl` with the answers of a model and its actions on a computer, `result.txt` beside it.

The task stands elsewhere; its ID is the name of the folder. What an action gave is a screenshot, which is named only.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.context import Context, success_of
from evaluation_assets.core.traces.formats.conversation import Conversation, grouped, joined, trajectory_from
from evaluation_assets.core.traces.formats.files.samples import text_record
from evaluation_assets.core.traces.formats.isolation import each_own_file, usable
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import as_number, first_text, object_in, parsed
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "osworld"
DESCRIPTION = "OSWorld runs (traj.jsonl), with result.txt in the same folder"
DETECTION = "lines with step_num, action_timestamp, action and screenshot_file"

_TRAJECTORY, _RESULT = "traj.jsonl", "result.txt"
_ENDS = ("DONE", "FAIL")
_WORDS = (*_ENDS, "WAIT")
"""Actions that are no code."""
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)@(\d\d)(\d\d)(\d\d)")
_NAMES = ("action_type", "name", "action")


def _is_step(data: Any) -> bool:
    return {"step_num", "action_timestamp", "action", "screenshot_file"} <= object_in(data).keys()


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per run. Other files in the folder of a run are left out."""
    folders = {posixpath.dirname(file.source) for file in files if posixpath.basename(file.source) == _TRAJECTORY}
    own, beside, scores = [], 0, {}
    for file in files:
        folder, name = posixpath.split(file.source)
        if folder not in folders or name == _TRAJECTORY:
            own.append(file)
        elif name == _RESULT:
            scores[folder] = _score(file)
        else:
            beside += 1
    if beside:
        unmapped.count("files beside the steps of a run", beside)
    return each_own_file(own, detect, NAME, partial(_runs, scores, unmapped))


def _score(file: DropFile) -> float | None:
    record = text_record(file.unwatched)
    return None if record is None else as_number(parsed(str(record.data).strip()))


def _runs(
    scores: Mapping[str, float | None], unmapped: UnmappedFields, file: DropFile
) -> Iterator[Trajectory | Rejection]:
    """The runs in a file, to which a task that is run again is appended."""
    folder = posixpath.dirname(file.source)
    groups = list(grouped([file], _goes_on))
    runs = sum(isinstance(group, list) for group in groups)
    for group in groups:
        if isinstance(group, Rejection):
            yield group
            continue
        score = scores.get(folder) if runs == 1 else None  # of which run it is, is not known
        yield usable(joined(group), partial(_trajectory, group, folder, score, unmapped), is_whole=runs == 1)


def _goes_on(earlier: JsonObject, later: JsonObject) -> bool:
    """Whether a line continues the run of the last: actions of one answer have one number."""
    before, after = object_in(earlier).get("step_num"), object_in(later).get("step_num")
    return not isinstance(before, int) or not isinstance(after, int) or after >= before


def _trajectory(
    records: Sequence[Record], folder: str, score: float | None, unmapped: UnmappedFields, _: Record
) -> Trajectory:
    events: list[Event] = []
    numbers: list[int | None] = []
    failure = started = task = answer = None
    is_done = False
    last: Any = None
    for record in records:
        with unmapped.reading(record.json_object()) as fields:
            number, response = fields.whole("step_num"), fields.value("response")
            time, told = _time(fields.text("action_timestamp")), fields.text("instruction")
            failure = fields.text("Error", "error") or failure
            started, task = started or time, task or told
            if "action" in fields:
                numbers.append(number)
                is_said = response is not None and (number, response) != last
                last = number, response
                is_done = fields.flag("done") is True
                answer = as_text(response) if response is not None and fields.value("action") in _ENDS else None
                events += _events(fields, as_text(response) if is_said else None)
    unmapped.stated.steps_in_sequence(numbers)
    context = Context(
        task=task,
        task_id=posixpath.basename(folder) or None,
        final_answer=answer,
        success=success_of(score),
        started_at=started,
        cut_off=not is_done and failure is None,
        failure=failure,
        labels={} if score is None else {"score": score},
    )
    asked = [Asked(text=task)] if task else []
    return trajectory_from(NAME, Conversation(events=(*asked, *events)), context)


def _events(fields: Fields, message: str | None) -> Iterator[Event]:
    action, shown = fields.value("action"), fields.text("screenshot_file")
    fields.set_aside("reward", "natural_language_action", "action_count")
    yield Said(agent_id="computer agent", message=message, calls=(_call(action),))
    info = fields.value("info")
    texts = [as_text(info) if info else "", f"[image: {shown}]" if shown else ""]
    yield Result(content="\n".join(filter(None, texts)))


def _call(action: Any) -> Call:
    """An action: code for pyautogui, a word, or an object with its kind."""
    if isinstance(action, dict):
        name = next((key for key in _NAMES if first_text(action, key)), None)
        return Call(
            name=action[name] if name else "action",
            arguments={key: value for key, value in action.items() if key != name},
        )
    text = as_text(action)
    return Call(name=text) if text in _WORDS else Call(name="pyautogui", arguments={"code": text})


def _time(text: str | None) -> str | None:
    match = _TIME.match(text or "")
    return None if match is None else "{}-{}-{}T{}:{}:{}".format(*match.groups())


detect = any_record(_is_step)
