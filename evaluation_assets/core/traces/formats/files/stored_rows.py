"""Rows as tables, databases and log services keep them: by column, with the type of each value beside it, as text."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluation_assets.core.traces.formats.files.content_texts import with_contents
from evaluation_assets.core.traces.formats.files.json_values import loaded
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LOG_PAGE = {"events", "searchedLogStreams", "nextToken", "nextForwardToken", "nextBackwardToken"}
"""Fields of an answer of CloudWatch Logs."""
_OF_AGENTS = frozenset("arguments args input parameters tool_input toolInput params filter query result output".split())
"""Fields of calls, in which types may be those of an agent's query, as of one that works on MongoDB."""
_ABOUT = ("metadata", "meta", "info", "metrics", "usage", "stats", "evaluation", "eval_result", "reward_info")
"""Columns that tell of a run or a message."""
_SAME = ("S", "B", "BOOL", "SS", "BS", "stringValue", "booleanValue", "timestampValue", "bytesValue", "referenceValue")
"""Types of DynamoDB and Firestore whose values JSON has as they are."""


def rows_in(data: Any) -> list[Any]:
    """The rows that a value holds, as plain values; any other value alone.

    It may be a table that pandas wrote by its columns, or beside their names (at the beginning of a file, the last
    column may have fewer rows), a document or an answer of MongoDB (extended JSON), DynamoDB or Firestore, an answer of
    CloudWatch Logs or Loki, a record of Kafka, or JSON in a text. Contents of messages are as they were before they
    were stored.
    """
    if isinstance(data, str):
        return [with_contents(_from_text(data))]
    if not isinstance(data, dict):
        return [with_contents(data)]
    data = _with_objects(_in_lower_case(data))
    for rows in (_of_columns(data), _of_log_page(data), _of_queue(data), _of_documents(data)):
        if rows is not None:
            return [with_contents(row) for row in rows]
    return [with_contents(data)]


def _in_lower_case(data: JsonObject) -> JsonObject:
    """A row whose columns are all in upper case, as Snowflake and Oracle write any, with their names in lower case."""
    are_upper = len(data) > 1 and all(map(str.isupper, data))
    return {name.lower(): value for name, value in data.items()} if are_upper else data


def _with_objects(data: JsonObject) -> JsonObject:
    """A row with what is known of a run as an object, which a column of JSON has as a text."""
    texts = {name: text for name in _ABOUT if isinstance(text := data.get(name), str) and text.startswith("{")}
    return {**data, **{name: _from_text(text) for name, text in texts.items()}} if texts else data


def _from_text(text: str) -> Any:
    """The object or list in a text of JSON; any other text unchanged."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return loaded(text.encode())
    except ValueError:
        return text


def _of_columns(data: JsonObject) -> list[Any] | None:
    names, cells = data.get("columns"), data.get("data")
    if data.keys() == {"columns", "index", "data"} and isinstance(names, list) and isinstance(cells, list):
        return [dict(zip(names, row, strict=False)) if isinstance(row, list) else row for row in cells]
    if _are_lists_of_cells(data):
        return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
    columns = [column for column in data.values() if isinstance(column, dict)]
    numbers = list(columns[0]) if len(columns) == len(data) > 1 else []
    are_columns = all(map(str.isdigit, numbers)) and all(list(column) == numbers for column in columns[:-1])
    if not numbers or not are_columns or list(columns[-1]) != numbers[: len(columns[-1])]:
        return None
    if not any(all(isinstance(cell, str | int | float) for cell in column.values()) for column in columns):
        return None  # runs of tasks, by their numbers
    return [{name: column[number] for name, column in data.items() if number in column} for number in numbers]


def _are_lists_of_cells(data: JsonObject) -> bool:
    """Whether an object is a table by its columns: lists of one length, one of names of runs of which some repeat."""
    columns = list(data.values())
    if len(columns) < 3 or not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        return False
    runs = (column for name, column in data.items() if run_of({name: "a"}) is not None)
    return any(all(isinstance(one, str | int) for one in column) and len(set(column)) < len(column) for column in runs)


def _of_log_page(data: JsonObject) -> list[Any] | None:
    events = _objects(data.get("events")) if data.keys() <= _LOG_PAGE else []
    if not events or not all(isinstance(event.get("message"), str) and "timestamp" in event for event in events):
        return None
    said = [_from_text(event["message"]) for event in events]
    if not any(isinstance(each, dict) for each in said) and not all("ingestionTime" in event for event in events):
        return None  # a log of one's own
    return [each if isinstance(each, dict) else event for each, event in zip(said, events, strict=True)]


def _of_queue(data: JsonObject) -> list[Any] | None:
    """What a record of Kafka, a new item in a stream of DynamoDB, or the lines that Loki found have in them."""
    if data.keys() >= {"topic", "partition", "offset", "value"}:
        value = _from_text(data["value"]) if isinstance(data["value"], str) else data["value"]
        return [value] if isinstance(value, dict) else None
    change = data.get("dynamodb")
    if data.get("eventName") == "INSERT" and isinstance(change, dict) and _are_typed(change.get("NewImage"), _DYNAMODB):
        return [_fields(change["NewImage"], _DYNAMODB)]
    found = data.get("data")
    if not isinstance(found, dict) or found.get("resultType") != "streams":
        return None
    streams = [stream.get("values") for stream in _objects(found.get("result"))]
    lines = [line for values in streams if isinstance(values, list) for line in values]
    if not all(
        isinstance(line, list) and len(line) >= 2 and all(isinstance(at, str) for at in line[:2]) for line in lines
    ):
        return None
    said = [_from_text(line[1]) for line in sorted(lines, key=lambda line: (len(line[0]), line[0]))]  # as nanoseconds
    return said if said and all(isinstance(each, dict) for each in said) else None


def _of_documents(data: JsonObject) -> list[Any] | None:
    """The documents of a database as plain values; `None` if they have no types beside their values."""
    if any(_type_of(value, _EXTENDED) is not None for key, value in data.items() if key not in _OF_AGENTS):
        return [_plain(data, _EXTENDED)]
    items = _objects(
        [data["Item"]]
        if data.keys() - {"ConsumedCapacity"} == {"Item"}
        else data.get("Items")
        if "Count" in data
        else None
    )
    if items and all(_are_typed(item, _DYNAMODB) for item in items):
        return [_fields(item, _DYNAMODB) for item in items]
    documents = _objects([data] if "fields" in data else data.get("documents"))
    are_named = all(isinstance(document.get("name"), str) for document in documents)
    if documents and are_named and all(_are_typed(document.get("fields"), _FIRESTORE) for document in documents):
        return [_document(document) for document in documents]
    return None


def _document(document: JsonObject) -> JsonObject:
    """A document of Firestore; the last part of its name is its ID."""
    about = {"id": document["name"].rpartition("/")[2], "createTime": document.get("createTime")}
    return {**about, **_fields(document["fields"], _FIRESTORE)}


_Types = Mapping[str, Callable[[Any], Any]]
"""How the value of each type is read, by the name of the type."""


def _objects(rows: Any) -> list[JsonObject]:
    """The items of a list of objects; none of any other value."""
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else []


def _are_typed(fields: Any, types: _Types) -> bool:
    """Whether each field of an object holds the name of a type and a value of this type."""
    if not isinstance(fields, dict) or not fields:
        return False
    return all(
        (name := _type_of(value, types)) is not None and isinstance(value[name], _KINDS.get(name, object))
        for value in fields.values()
    )


def _type_of(value: Any, types: _Types) -> str | None:
    name = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else None
    return name if name in types else None


def _plain(value: Any, types: _Types) -> Any:
    """A value without the types in it; one that cannot be of its type stays as it is."""
    if (name := _type_of(value, types)) is not None:
        try:
            return types[name](value[name])
        except (TypeError, ValueError, AttributeError):
            return value
    if isinstance(value, dict):
        return _fields(value, types)
    return [_plain(item, types) for item in value] if isinstance(value, list) else value


def _fields(data: JsonObject, types: _Types) -> JsonObject:
    return {key: _plain(value, types) for key, value in data.items()}


def _number(text: Any) -> Any:
    """A number that is written as text; NaN and Infinity, which JSON lacks, become null."""
    return loaded(str(text).encode())


def _date(value: Any) -> Any:
    """An instant of MongoDB: a text, or milliseconds since 1970."""
    milliseconds = _plain(value, _EXTENDED)
    instant = milliseconds if isinstance(milliseconds, str) else as_utc(milliseconds / 1000)
    if instant is None:
        raise ValueError(value)
    return instant


_KINDS: Mapping[str, type] = {"S": str, "N": str, "BOOL": bool, "NULL": bool, "L": list, "M": dict, "stringValue": str}
"""How JSON writes the values of the types of DynamoDB and Firestore."""


_EXTENDED: _Types = {
    "$oid": str,
    "$uuid": str,
    "$symbol": str,
    "$numberInt": _number,
    "$numberLong": _number,
    "$numberDouble": _number,
    "$numberDecimal": _number,
    "$date": _date,
    "$undefined": lambda _: None,
}
"""MongoDB Extended JSON 2 (github.com/mongodb/specifications, extended-json)."""
_DYNAMODB: _Types = {
    **dict.fromkeys(_SAME, lambda value: value),
    "N": _number,
    "NS": lambda numbers: [_number(number) for number in numbers],
    "NULL": lambda _: None,
    "L": lambda items: [_plain(item, _DYNAMODB) for item in items],
    "M": lambda fields: _fields(fields, _DYNAMODB),
}
_FIRESTORE: _Types = {
    **dict.fromkeys(_SAME, lambda value: value),
    "integerValue": _number,
    "doubleValue": _number,
    "nullValue": lambda _: None,
    "geoPointValue": lambda point: point,
    "arrayValue": lambda array: [_plain(item, _FIRESTORE) for item in array.get("values", [])],
    "mapValue": lambda fields: _fields(fields.get("fields", {}), _FIRESTORE),
}
