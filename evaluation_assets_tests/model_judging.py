"""Installations whose panel are models, and drops for them."""

from collections import Counter
from pathlib import Path

import dagster as dg

from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace, call, record
from evaluation_assets_tests.model_server import ModelServer

CLIPS = 3


def judge(server: ModelServer, name: str = "one", protocol: str = "openai", **more: object) -> dict[str, object]:
    url = server.openai_url if protocol == "openai" else server.anthropic_url
    price = {"input": 1.0, "output": 10.0, "cached_input": 0.1}
    known = {"name": name, "provider": f"{protocol}_compatible", "model": "m", "base_url": url, "price": price}
    quick = {"timeouts": {"first_backoff_s": 0.02}}
    return known | {"api_key_env": "TEST_KEY"} | quick | more


def drop_of(count: int, marked: str = "") -> bytes:
    text = [call(f"q{number} {marked}", f"found {number}") for number in range(CLIPS - 1)]
    return b"".join(
        record(f"t{number}", "".join(text).replace("found", f"found by {number}") + "<answer>4</answer>")
        for number in range(count)
    )


class Judged(Workspace):
    """An installation with a panel of model judges."""

    def verdicts(self, level: str = "clip", name: str = "one") -> list[dict]:
        return self.rows("d", f"{level}_verdicts", name)

    def outcomes(self, name: str = "one") -> Counter[tuple[str, str | None]]:
        rows = [row for level in ("clip", "category", "trajectory") for row in self.verdicts(level, name)]
        return Counter((row["outcome"], row["error_kind"]) for row in rows)


def installed(home: Path, instance: dg.DagsterInstance, *judges: dict[str, object]) -> Judged:
    at = Installation.at(str(home))
    panel: Panel = panel_of({"judges": list(judges)}, "test")
    return Judged(at, build_definitions(at, panel), instance)
