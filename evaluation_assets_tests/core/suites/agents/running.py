"""Agents on suites: settings, scripted models, runs and what they wrote."""

import asyncio
import uuid
from pathlib import Path
from typing import Any

from upath import UPath

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.suites.agents.runner import Places, RunSettings, RunTally, run_agent
from evaluation_assets.core.suites.agents.settings import AgentSettings
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.model_server import ModelServer, rule

PROTOCOLS = ["openai", "anthropic"]
DONE = "<summary>I worked it out.</summary><feedback>calculator: fine.</feedback><response>{}</response>"


def call(expression: str, name: str = "calculator") -> dict[str, Any]:
    return {"name": name, "arguments": {"expression": expression}}


def steps(contains: str, *said: dict[str, Any]) -> dict[str, Any]:
    """A model that does this, one after the other, where the task has these words."""
    return rule("steps", contains=contains, steps=list(said))


def agent(server: ModelServer, protocol: str = "openai", **more: Any) -> AgentSettings:
    url = server.openai_url if protocol == "openai" else server.anthropic_url
    known: dict[str, Any] = {
        "name": "solver",
        "provider": f"{protocol}_compatible",
        "model": "m",
        "base_url": url,
        "api_key_env": "TEST_KEY",
        "price": {"input": 1.0, "output": 10.0},
        "tools": {"python": ["calculator"]},
        "timeouts": {"first_backoff_s": 0.02},
    }
    return AgentSettings.model_validate(known | more)


def suite(*cases: dict[str, Any], **more: Any) -> Suite:
    return Suite.model_validate({"name": "sums", "cases": list(cases), **more})


SUM = {"id": "sum", "message": "How much is two to the tenth?", "answer": "1024"}


class Running:
    """An installation's folders, and runs in it."""

    def __init__(self, folder: Path) -> None:
        self.places = Places(UPath(folder / "drops"), folder / "unfinished")
        self.ledger_url = f"sqlite:///{folder / 'ledger.sqlite'}"

    def run(self, who: AgentSettings, what: Suite, budget_usd: float | None = None, **more: Any) -> RunTally:
        settings = RunSettings(suite_name="sums", run=uuid.uuid4().hex, **more)
        ledger = Ledger(self.ledger_url)
        try:
            return asyncio.run(
                run_agent(who, what, settings, ledger, Budget(budget_usd), self.places, lambda line: None)
            )
        finally:
            ledger.close()

    def trajectories(self, tally: RunTally) -> dict[str, Trajectory]:
        """What the drop holds, read as any other drop."""
        assert tally.drop is not None
        drop = scan(self.places.drops).drops[tally.drop]
        unmapped = UnmappedFields()
        read = list(read_trajectories(drop.sources, unmapped))
        assert not any(isinstance(item, Rejection) for item in read) and not unmapped.counts
        return {item.id: item for item in read if isinstance(item, Trajectory)}


def results(trajectory: Trajectory) -> list[str]:
    return [trajectory.piece(step.result.content) for step in trajectory.calls if step.result is not None]


def errors(trajectory: Trajectory) -> list[str | None]:
    return [step.result.error for step in trajectory.calls if step.result is not None]
