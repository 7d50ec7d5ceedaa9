"""Parse suite files into JSON values with line numbers: JSON, JSON Lines, YAML and CSV, strictly.

A key that stands twice in an object is an error, since one of its values would be lost. YAML gives the types of JSON
only: dates and times stay text, and only `true` and `false` are booleans. Integers of more than 64 bits become texts,
as the readers of runs make them.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import Any

import yaml
from upath import UPath

from evaluation_assets.core.suites.formats.base import Item, Source
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.system.regular_files import is_local, why_not_regular
from evaluation_assets.core.text.csv_rows import csv_rows
from evaluation_assets.core.text.exact_json import integer
from evaluation_assets.core.text.json_faults import json_fault
from evaluation_assets.core.text.unique_keys import UniqueKeyLoader
from evaluation_assets.core.text.well_formed import well_formed_json

EXTENSIONS = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".xml")
_GAP = re.compile(r"[\s,]*")
_SEPARATOR = re.compile(r"sep=(.)\r?\n")
"""The first line of a CSV file that tells Excel its separator."""


def read_source(path: UPath) -> Source:
    """A suite file.

    Raises:
        InvalidSuite: it is not text, or not YAML, JSON, CSV or XML.
    """
    if is_local(path) and (reason := why_not_regular(path)) is not None:
        raise InvalidSuite(f"{path}: {reason}")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidSuite(f"{path.name}: it is not text in UTF-8 ({problem.reason} at byte {problem.start})") from None
    except OSError as problem:
        raise InvalidSuite(f"{path}: {problem.strerror or problem}") from problem
    source = Source(path, text, ())
    if not text.strip():
        raise source.broken(1, "the file is empty")
    if source.is_xml:
        return source
    parse = {".yaml": _yaml, ".yml": _yaml, ".csv": _csv}.get(path.suffix.lower(), _json)
    try:
        items = parse(source)
        return Source(path, text, tuple(Item(item.line, well_formed_json(item.data)) for item in items))
    except RecursionError:
        raise source.broken(None, "it is nested too deeply") from None


def _json(source: Source) -> tuple[Item, ...]:
    """A value a line where the first line is one, else one document; of an array, its items."""
    lines = [(number, line) for number, line in enumerate(source.text.splitlines(), 1) if line.strip()]
    if len(lines) > 1 and _is_json(lines[0][1]):
        return tuple(Item(number, _parsed(source, line, number)) for number, line in lines)
    document = _parsed(source, source.text, 1)
    if not isinstance(document, list):
        return (Item(lines[0][0], document),)
    starts = _item_lines(source.text)
    return tuple(Item(next(starts), data) for data in document)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return False
    return True


def _parsed(source: Source, text: str, first_line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_number, parse_int=integer)
    except json.JSONDecodeError as problem:
        line = first_line + problem.lineno - 1
        raise source.broken(line, f"not JSON: {json_fault(problem)} in column {problem.colno}") from None
    except _NotJson as problem:
        raise source.broken(first_line if "\n" not in text.strip() else None, str(problem)) from None


class _NotJson(ValueError):
    """What Python's reader takes, but would lose or change something."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise _NotJson(f"the key {key!r} appears twice in one object")
        data[key] = value
    return data


def _no_number(name: str) -> None:
    raise _NotJson(f"{name} is not JSON")


def _item_lines(text: str) -> Iterator[int]:
    """The lines in which the items of a valid array start."""
    decoder = json.JSONDecoder()
    position, line, counted = text.index("[") + 1, 1, 0
    while True:
        position = _GAP.match(text, position).end()  # type: ignore[union-attr]
        line, counted = line + text.count("\n", counted, position), position
        yield line
        _, position = decoder.raw_decode(text, position)


class _Loader(UniqueKeyLoader):
    """YAML with JSON's types."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        for each, _ in node.value:
            if not isinstance(key := self.construct_object(each, deep=True), str):
                said = f"the key {key!r} is not text; quote it"
                raise yaml.constructor.ConstructorError(None, None, said, each.start_mark)
        return super().construct_mapping(node, deep)

    def exact_integer(self, node: yaml.ScalarNode) -> int | str:
        return integer(str(self.construct_yaml_int(node)))


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.exact_integer)
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:merge")
    ]
    for first, resolvers in UniqueKeyLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def _yaml(source: Source) -> tuple[Item, ...]:
    try:
        documents = list(yaml.load_all(source.text, _Loader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        raise source.broken(None if mark is None else mark.line + 1, f"not YAML: {problem.problem}") from None
    except yaml.YAMLError as problem:
        raise source.broken(None, f"not YAML: {problem}") from None
    if len(documents) == 1 and isinstance(documents[0], list):
        nodes = yaml.compose(source.text, _Loader)
        return tuple(
            Item(node.start_mark.line + 1, data)
            for node, data in zip(nodes.value if nodes else [], documents[0], strict=True)
        )
    return tuple(Item(1, document) for document in documents)


def _csv(source: Source) -> tuple[Item, ...]:
    """A row each under a header."""
    stated = _SEPARATOR.match(source.text)
    text = source.text[stated.end() :] if stated else source.text
    reader = csv_rows(text, stated[1] if stated else None)
    items: list[Item] = []
    try:
        names = [name for name in reader.fieldnames or () if name]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise source.broken(1, f"two columns are called {twice!r}")
        for row in reader:
            if None in row:
                raise source.broken(reader.line_num, "the row has more cells than the header")
            items.append(Item(reader.line_num, row))
    except csv.Error as problem:
        raise source.broken(reader.line_num, f"not CSV: {problem}") from None
    return tuple(items)
