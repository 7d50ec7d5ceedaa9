"""Values that fit a JSON schema, or miss it in one place."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets_tests.model_server.reading import Malformed

DEEP, TOO_DEEP = 8, 64
SENTENCES = (
    "The step does what the task asks for.",
    "The tool call has the right arguments.",
    "The answer follows from what was read before.",
    "The file is read before it is changed.",
    "The result is checked once and not again.",
    "The plan is short and is kept to.",
    "The error is seen, but its cause is not looked for.",
    "The same call is made twice without a reason.",
    "The number in the answer is not in the output.",
    "The claim has no evidence in the log.",
    "The tests run and the change stays small.",
    "The question is answered in part.",
    "The wrong file is edited first and then put right.",
    "The search finds the place in one step.",
    "The output is longer than it needs to be.",
    "The user is asked where a look would do.",
)


FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


class Filler:
    """Fills a JSON schema, each value drawn from the seed and its place."""

    def __init__(self, schema: dict[str, Any], seed: bytes, criteria: Sequence[str] = ()) -> None:
        self.root = schema
        self.seed = seed
        self.criteria = criteria
        self.bounds: list[tuple[tuple[str | int, ...], object]] = []

    def draw(self, path: tuple[str | int, ...], sides: int) -> int:
        name = "\0".join(map(str, path)).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(name, digest_size=8, key=self.seed).digest()) % sides

    def fill(self, schema: dict[str, Any], path: tuple[str | int, ...] = ()) -> Any:
        if len(path) > TOO_DEEP:
            raise Malformed("The schema has no end.")
        schema = self.resolved(schema, path)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            self.bounds.append((path, _stranger(schema["enum"])))
            return schema["enum"][self.draw(path, len(schema["enum"]))]
        kind = schema.get("type") or (
            "object" if "properties" in schema else "array" if "items" in schema else "string"
        )
        if isinstance(kind, list):
            kind = next(one for one in kind if one != "null" or len(kind) == 1)
        if kind in ("integer", "number"):
            return self.number(schema, path, whole=kind == "integer")
        if kind == "boolean":
            return self.draw(path, 2) == 1
        if kind == "null":
            return None
        if kind == "object":
            return self.object(schema, path)
        return self.array(schema, path) if kind == "array" else self.string(schema, path)

    def resolved(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
        """A schema without references and choices."""
        for _ in range(TOO_DEEP):
            if "$ref" in schema:
                found: Any = self.root
                for step in schema["$ref"].removeprefix("#").split("/")[1:]:
                    found = found[step.replace("~1", "/").replace("~0", "~")]
                schema = found | {key: value for key, value in schema.items() if key != "$ref"}
            elif choices := schema.get("anyOf") or schema.get("oneOf"):
                null = [choice for choice in choices if choice.get("type") == "null"]
                solid = [choice for choice in choices if choice.get("type") != "null"]
                options = null if null and (len(path) > DEEP or not solid) else solid
                rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                schema = rest | options[self.draw((*path, "?"), len(options))]
            elif "allOf" in schema:
                merged = {key: value for key, value in schema.items() if key != "allOf"}
                for part in schema["allOf"]:
                    merged |= self.resolved(part, path)
                schema = merged
            else:
                return schema
        raise Malformed("The schema refers to itself.")

    def number(self, schema: dict[str, Any], path: tuple[str | int, ...], whole: bool) -> int | float:
        step = schema.get("multipleOf", 1 if whole else None)
        low, high = schema.get("minimum"), schema.get("maximum")
        over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        low = over if low is None else low
        high = under if high is None else high
        if high is not None or low is not None:
            self.bounds.append((path, high + 1 if high is not None else (low or 0) - 1))
        low = min(0, high or 0) if low is None else low
        high = low + (100 if whole else 1) if high is None else high
        if step is None:
            share = self.draw(path, 99) + 1
            return min(max(low + (high - low) * share / 100, low), high)
        first, last = math.ceil(low / step), math.floor(high / step)
        first += first * step == over
        last -= last * step == under
        return (first + self.draw(path, max(last - first, 0) + 1)) * step

    def string(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> str:
        if (known := FORMATS.get(schema.get("format", ""))) is not None:
            return known
        text = SENTENCES[self.draw(path, len(SENTENCES))]
        while len(text) < schema.get("minLength", 0):
            text += " " + text
        return text[: schema.get("maxLength")]

    def object(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
        names = schema.get("properties", {})
        if len(path) > DEEP:
            names = {name: child for name, child in names.items() if name in schema.get("required", ())}
        return {name: self.fill(child, (*path, name)) for name, child in names.items()}

    def array(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> list[Any]:
        items = schema.get("items", {})
        if self.criteria and "criterion" in items.get("properties", {}):
            known = items["properties"]["criterion"].get("enum", self.criteria)
            # A list of scores for other criteria than those named, as of an answer, has them all.
            names = self.criteria if not set(known).isdisjoint(self.criteria) else known
            filled = (self.fill(items, (*path, index)) for index in range(len(names)))
            return [entry | {"criterion": name} for name, entry in zip(names, filled, strict=True)]
        low = schema.get("minItems", 0)
        high = max(low, min(schema.get("maxItems", low + 3), low + 3)) if len(path) <= DEEP else low
        low = max(low, min(1, high))
        count = low + self.draw((*path, "#"), high - low + 1)
        return [self.fill(schema.get("items", {}), (*path, index)) for index in range(count)]

    def spoil(self, value: Any, fault: Mapping[str, Any]) -> None:
        """Make a valid answer invalid in one place."""
        name = fault.get("property")
        if fault["kind"] == "extra" and isinstance(value, dict):
            value[name or "stranger"] = "not asked for"
        elif fault["kind"] == "missing":
            found = [one for one in _objects(value) if (name in one if name else one)]
            if found:
                found[0].pop(name or list(found[0])[-1])
        elif fault["kind"] == "out_of_range":
            bounds = [(path, bad) for path, bad in self.bounds if path and name in (None, path[-1])]
            bounds.sort(key=lambda bound: isinstance(bound[1], str))
            if bounds:
                (*path, last), bad = bounds[0]
                for step in path:
                    value = value[step]
                value[last] = bad


def _stranger(values: list[Any]) -> object:
    """A value beside the allowed ones, of their type."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return max(numbers) + 1 if numbers else "none of these"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value, from outside to inside."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _objects(one)
