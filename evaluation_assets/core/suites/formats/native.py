"""This project's own suites: YAML or JSON in the shape of the published JSON Schema, or the list of cases alone."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from evaluation_assets.core.suites.formats.base import Draft, Source, invalid
from evaluation_assets.core.suites.suite import Case, Suite
from evaluation_assets.core.text.faults import faults_of, place_name
from evaluation_assets.core.text.yaml_lines import Lines
from evaluation_assets.core.traces.trajectories.model import JsonObject

NAME = "suite"
DESCRIPTION = "YAML or JSON with a list of cases; `evaluation-assets suite schema` prints its JSON Schema."
DETECTION = "an object with `cases`, or a list or lines of them, each with an `id` and a `message`"

Place = tuple[str | int, ...]
LineAt = Callable[[Place], int | None]
_LIST = "cases"
_ASKED = ("message", "messages")
_CHECKS = frozenset(Case.model_fields) - {"id", *_ASKED, "category", "tags", "tools"}


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return _whole(source) is not None or any(map(_is_case, [item.data for item in source.items[:5]]))


def _whole(source: Source) -> JsonObject | None:
    """The object that a file is, with its list of cases."""
    data = source.items[0].data if len(source.items) == 1 else None
    return data if isinstance(data, dict) and _LIST in data else None


def _is_case(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and "id" in data
        and any(name in data for name in _ASKED)
        and not _CHECKS.isdisjoint(data)
    )


def read(source: Source) -> Draft:
    """The cases. All faults of the file are in one error.

    Raises:
        InvalidSuite: something in the file is not as the schema says.
    """
    lines, whole = Lines(source.text), _whole(source)
    before = () if whole is None else (_LIST,)
    given: Any = [item.data for item in source.items] if whole is None else whole[_LIST]

    def line_at(place: Place) -> int | None:
        return source.items[int(place[0])].line if whole is None else lines.at(*place)

    if not isinstance(given, list):
        raise source.broken(lines.at(_LIST), f"{_LIST} is not a list")
    fields = {name: value for name, value in (whole or {}).items() if name != _LIST}
    faults = _faults(Suite, {"name": source.path.stem, **fields}, source, line_at, ())
    draft = Draft(fields=fields)
    first: dict[str, str] = {}
    for index, item in enumerate(given):
        place = (*before, index)
        of_case = _faults(Case, item, source, line_at, place)
        faults += of_case
        if of_case:
            continue
        case = Case.model_validate(item)
        if case.id in first:
            reason = f"{place_name(place)}: the id {case.id!r} is that of {first[case.id]} already"
            faults.append(str(source.broken(line_at((*place, "id")), reason)))
        first.setdefault(case.id, place_name(place))
        draft.add(source, line_at(place) if case.lacks else None, case)
    if faults:
        raise invalid(faults)
    return draft


def _faults(model: type[BaseModel], data: Any, source: Source, line_at: LineAt, place: Place) -> list[str]:
    try:
        model.model_validate(data)
    except ValidationError as problem:
        faults = [(line_at(fault.place), str(fault)) for fault in faults_of(problem, place, model)]
        return [str(source.broken(*fault)) for fault in sorted(faults, key=lambda fault: fault[0] or 0)]
    return []
