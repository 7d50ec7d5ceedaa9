"""Scripts: which requests get which fault, the rate limit, and the keys that are accepted."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets_tests.model_server.faults import FAULTS, REFUSALS
from evaluation_assets_tests.model_server.reading import dumped

Scripted = Sequence[Mapping[str, Any]] | Mapping[str, Any]


@dataclass(slots=True)
class Rule:
    """A fault, and the requests it is for."""

    fault: dict[str, Any]
    path: str
    needles: tuple[bytes, ...]
    model: str | None
    times: int | None
    after: int
    rate: float | None
    matched: int = 0
    used: int = 0
    seen: Counter[str] = field(default_factory=Counter)

    def is_for(self, asked: Mapping[str, Any]) -> bool:
        """Whether a request has the feature that is refused; faults of other kinds are for all."""
        refusal = REFUSALS.get(self.fault["kind"])
        return refusal is None or refusal[1](asked)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Rule:
        check_names(given, "match", "times", "after", "rate", "fault")
        match, fault = given.get("match") or {}, dict(given["fault"])
        check_names(match, "path", "contains", "model")
        check_names(
            fault,
            "kind",
            "seconds",
            "retry_after",
            "status",
            "message",
            "code",
            "type",
            "property",
            "text",
            "steps",
            "by",
        )
        if fault.get("kind") not in FAULTS:
            raise ValueError(f"unknown fault {fault.get('kind')!r}, not one of {', '.join(FAULTS)}")
        if fault["kind"] == "text" and "text" not in fault:
            raise ValueError("the fault 'text' needs a text")
        if fault["kind"] == "steps" and not fault.get("steps"):
            raise ValueError("the fault 'steps' needs steps")
        if fault["kind"] == "slow" and "seconds" not in fault:
            raise ValueError("the fault 'slow' needs seconds")
        text = match.get("contains") or ""
        # As it stands in JSON: the inside of a string, with or without characters beyond ASCII, or the text itself.
        needles = {text.encode(), dumped(text)[1:-1].encode(), json.dumps(text)[1:-1].encode()}
        times, rate = given.get("times"), given.get("rate")
        return cls(
            fault, match.get("path") or "", tuple(needles), match.get("model"), times, given.get("after") or 0, rate
        )

    def takes(self, path: str, body: bytes, model: object, digest: str) -> bool:
        if not path.startswith(self.path) or (self.model is not None and self.model != model):
            return False
        if not any(needle in body for needle in self.needles):
            return False
        self.matched += 1
        if self.matched <= self.after or (self.times is not None and self.used >= self.times):
            return False
        if self.rate is not None:
            drawn = hashlib.sha256(f"{digest} {self.seen[digest]}".encode()).digest()
            self.seen[digest] += 1
            if int.from_bytes(drawn[:8]) >= self.rate * 2**64:
                return False
        self.used += 1
        return True


@dataclass(slots=True)
class Bucket:
    """A token bucket."""

    per_second: float
    burst: float
    level: float = 0.0
    at: float = 0.0

    def wait(self) -> float:
        """Take one, or say after how many seconds there will be one."""
        now = time.monotonic()
        self.level = min(self.burst, self.level + (now - self.at) * self.per_second) if self.at else self.burst
        self.at = now
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.per_second


def check_names(given: Mapping[str, Any], *names: str) -> None:
    if unknown := set(given) - set(names):
        raise ValueError(f"unknown in a script: {', '.join(sorted(unknown))}")


@dataclass(slots=True)
class Script:
    """Rules, a rate limit, keys, and what stands in every answer."""

    rules: list[Rule] = field(default_factory=list)
    bucket: Bucket | None = None
    keys: frozenset[str] | None = None
    serves: dict[str, Any] = field(default_factory=dict)
    content_type: str = "application/json"
    batch_polls: int = 0

    @classmethod
    def read(cls, given: Scripted) -> Script:
        script = cls()
        items = [given] if isinstance(given, Mapping) else list(given)
        for item in items:
            if "fault" in item:
                script.rules.append(Rule.read(item))
                continue
            check_names(item, "rate_limit", "keys", "serves", "content_type", "batch_polls", "rules")
            if limit := item.get("rate_limit"):
                check_names(limit, "requests_per_minute", "burst")
                script.bucket = Bucket(limit["requests_per_minute"] / 60, max(limit.get("burst", 1), 1))
            if "keys" in item:
                script.keys = frozenset(item["keys"])
            script.serves |= item.get("serves", {})
            script.batch_polls = item.get("batch_polls", script.batch_polls)
            script.content_type = item.get("content_type", script.content_type)
            script.rules += map(Rule.read, item.get("rules", ()))
        return script


def rule(
    kind: str,
    *,
    path: str | None = None,
    contains: str | None = None,
    model: str | None = None,
    times: int | None = None,
    after: int = 0,
    rate: float | None = None,
    **fault: object,
) -> dict[str, Any]:
    """A rule of a script."""
    match = {"path": path, "contains": contains, "model": model}
    return {"match": match, "times": times, "after": after, "rate": rate, "fault": {"kind": kind} | fault}
