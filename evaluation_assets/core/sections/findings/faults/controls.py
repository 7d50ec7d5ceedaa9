"""Controls: changes that nothing follows from."""

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import orjson

from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.faults.editing import Edit, edited, with_steps
from evaluation_assets.core.sections.findings.faults.operator import Changed, NotApplicable
from evaluation_assets.core.sections.findings.finding import Place
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject, Step, Trajectory, json_object

_EVERYWHERE = Place()

_STYLES: tuple[Callable[[JsonObject], str], ...] = (
    lambda data: json.dumps(data, ensure_ascii=False, separators=(",", ":")),
    lambda data: json.dumps(data, ensure_ascii=False),
    lambda data: json.dumps(data, ensure_ascii=False, indent=2),
    lambda data: json.dumps(data),
    lambda data: json.dumps(data, indent=2),
)
"""How JSON is written: with and without white space."""


def key_order(trajectory: Trajectory, random: Random) -> Changed:
    """Reverse the order of the keys in the arguments of all calls."""
    return _rewritten(trajectory, "no call with several arguments as JSON", _reversed)


def whitespace(trajectory: Trajectory, random: Random) -> Changed:
    """Write the arguments of all calls with other white space between the keys and values."""
    return _rewritten(trajectory, "no call with arguments as JSON", _respaced)


def call_ids(trajectory: Trajectory, random: Random) -> Changed:
    """Give all calls other IDs."""
    old = [step.call.id for step in trajectory.calls if step.call is not None and step.call.id is not None]
    if not old:
        raise NotApplicable("no call with an ID")
    salt = str(random.random())
    new = {name: f"call_{digest(salt, name)}" for name in old}

    def renamed(at: PlacedStep) -> list[Step]:
        call = at.step.call
        if call is None or call.id is None:
            return [at.step]
        return [replace(at.step, call=replace(call, id=new[call.id]))]

    extra = trajectory.extra
    if isinstance(codes := extra.get("exit_codes"), dict):
        extra = {**extra, "exit_codes": {new.get(name, name): code for name, code in codes.items()}}
    return Changed(
        trajectory=replace(with_steps(trajectory, renamed), extra=extra), place=_EVERYWHERE, origin=_EVERYWHERE
    )


def _rewritten(trajectory: Trajectory, missing: str, written: Callable[[str, JsonObject], str | None]) -> Changed:
    edits = []
    for at in Course(trajectory).steps:
        call = at.step.call
        if call is None or call.arguments is not None:
            continue
        raw = trajectory.piece(call.raw)
        data = json_object(raw)
        # What JSON cannot give back as it was, such as a key that occurs twice, stays.
        if data is None or (text := written(raw, data)) is None or text == raw or json_object(text) != data:
            continue
        edits.append(Edit(*call.raw, text))
    if not edits:
        raise NotApplicable(missing)
    return Changed(trajectory=edited(trajectory, edits), place=_EVERYWHERE, origin=_EVERYWHERE)


def _style_of(raw: str, data: JsonObject) -> Callable[[JsonObject], str]:
    return next((style for style in _STYLES if style(data) == raw.strip()), _STYLES[1])


def _reversed(raw: str, data: JsonObject) -> str | None:
    if len(data) < 2:
        return None
    return _style_of(raw, data)(dict(reversed(data.items())))


def _respaced(raw: str, data: JsonObject) -> str | None:
    if not data:
        return None
    is_compact = "\n" not in raw.strip()
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() if is_compact else _STYLES[0](data)
