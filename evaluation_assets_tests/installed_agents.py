"""An installation with a suite and agents, whose models are scripted."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.core.suites.agents.running import DONE, call
from evaluation_assets_tests.model_server import ModelServer, rule

AGENT_FILE = """
name: {name}
provider: openai_compatible
model: {model}
base_url: {url}
api_key_env: TEST_KEY
price: {{input: 1, output: 10}}
tools: {{python: [calculator]}}
"""


def installed(folder: Path, server: ModelServer, *names: str) -> Installation:
    """An installation with a suite and agents, each with a model of its own name."""
    home = Installation.at(str(folder / "home"))
    prepare(home)
    cases = [{"id": f"case{n}", "message": f"Task {n}: twice {n}?", "answer": str(2 * n)} for n in range(3)]
    Path(home.suites.path, "sums.json").write_bytes(orjson.dumps({"cases": cases}))
    Path(home.suites.path, "broken.yaml").write_text("cases: [")
    for name in names:
        Path(home.agents.path, f"{name}.yaml").write_text(
            AGENT_FILE.format(name=name, model=name, url=server.openai_url)
        )
    return home


def answering(*models: str) -> list[dict[str, Any]]:
    """Models that double with the calculator; the last digit of the model's name is added to its answers."""
    return [
        rule(
            "steps",
            contains=f"Task {n}:",
            model=model,
            steps=[{"calls": [call(f"2 * {n}")]}, {"text": DONE.format(2 * n + int(model[-1]))}],
        )
        for model in models
        for n in range(3)
    ]
