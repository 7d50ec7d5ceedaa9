"""Scores and connections for tests of sinks."""

from typing import Any

from evaluation_assets.core.report.sinks.http import Http, Patience
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.report.sinks.sink import DropOutcome

TRACE, SPAN = "a" * 32, "b" * 16
QUICK = Patience(attempts=3, timeout=5, first_pause=0.001)
SECRET = "secret-of-the-store-1234"


def connected(url: str, headers: dict[str, str] | None = None) -> Http:
    return Http(url, headers, secrets=[SECRET], patience=QUICK)


def score(name: str = "clarity", value: float = 0.5, **more: Any) -> TraceScore:
    about: dict[str, Any] = {
        "drop": "d",
        "trajectory_id": "t1",
        "task_id": "t1",
        "level": "clip" if "span_id" in more else "trajectory",
        "trace_id": TRACE,
        "started_at": "2026-11-20T10:00:00+00:00",
        "evaluated_at": "2026-11-22T10:00:00.250+00:00",
        "judges": ("rules",),
        "explanation": "because",
    }
    return TraceScore(**(about | {"name": name, "value": value} | more))


def outcome(verdict: str | None = "pass", **more: Any) -> DropOutcome:
    about: dict[str, Any] = {
        "drop": "s/d",
        "suite": "s",
        "verdict": verdict,
        "blocks": verdict == "fail",
        "sentence": f"s/d: {verdict}: no metric fell",
        "markdown": f"### s/d\n\n**{verdict}**",
        "labels": {},
        "data": {"gate": None},
    }
    return DropOutcome(**(about | more))
