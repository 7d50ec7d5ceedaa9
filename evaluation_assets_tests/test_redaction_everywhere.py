"""No credential of a drop is in any request, whatever is judged and however it is asked."""

import base64
import gzip
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest
import yaml

from evaluation_assets.core.judging.panel import panel_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import KEY, Workspace, command
from evaluation_assets_tests.model_judging import Judged, judge
from evaluation_assets_tests.model_server import ModelServer

PIECE = 12
"""So many characters of a credential in a row are a leak, too."""

SHAPES: tuple[Callable[[str], str], ...] = (
    lambda value: f"ghp_{value}",
    lambda value: f"sk-proj-{value}",
    lambda value: f"glpat-{value}",
    lambda value: f"Authorization: Bearer {value}",
    lambda value: f"password={value}",
    lambda value: f"postgres://root:{value}@db.example.org/x",
    lambda value: f"eyJhbGciOiJIUzI1NiJ9.eyJ{value}.{value[::-1]}",
    lambda value: f"-----BEGIN PRIVATE KEY-----\n{value}{value[::-1]}\n-----END PRIVATE KEY-----",
    lambda value: f'{{"api_key": "{value}"}}',
)
"""Of a random value of 40 letters and digits."""


class Secrets:
    """Makes credentials, each once, and remembers where they were put."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._shapes = cycle(SHAPES)
        self.values: dict[str, str] = {}

    def value(self, place: str) -> str:
        """40 letters and digits, of every kind some."""
        pool = self._random.choices(string.ascii_letters + string.digits, k=36)
        self.values[f"{place} {len(self.values)}"] = made = "a1B2" + "".join(pool)
        return made

    def __call__(self, place: str) -> str:
        """Two credentials, of the shapes whose turn it is."""
        return " and ".join(next(self._shapes)(self.value(place)) for _ in range(2))

    def name(self, place: str) -> str:
        """A credential that can be a name."""
        return f"ghp_{self.value(place)}"

    def leaks(self, sent: str) -> set[str]:
        """The places whose credentials are in a text, whole or in part."""
        pieces = {sent[at : at + PIECE] for at in range(len(sent))}
        return {
            place
            for place, value in self.values.items()
            for text in (value, value[::-1])
            if any(text[at : at + PIECE] in pieces for at in range(len(text) - PIECE + 1))
        }


def session(secrets: Secrets, turns: int) -> dict[str, Any]:
    """A session of two agents with a user who comes back, with credentials wherever a text or a name can be."""
    tool, other = secrets.name("tool"), "look_up"
    known = secrets.value("told elsewhere")
    outlined = "x" * 380 + " " + secrets.name("behind the middle of an outline's line")
    return {
        "session_id": secrets.name("session"),
        "initial_task": f"Do this: {secrets('task')}, password={known}",
        "session_metadata": {"tags": [secrets.name("tag")]},
        "agents": [
            {
                "id": secrets.name("agent") if name == "first" else name,
                "name": secrets.name("agent name"),
                "role": secrets("role"),
                "description": secrets("description"),
                "tools_available": [
                    {
                        "name": tool,
                        "description": secrets("tool description"),
                        "parameters_schema": {secrets.name("parameter"): "string"},
                    }
                ],
            }
            for name in ("first", "second")
        ],
        "turns": [
            {
                "user_message": f"{outlined} {secrets('message')}" if turn else f"{known} {secrets('message')}",
                "knowledge": secrets("knowledge"),
                "agent_interactions": [
                    {
                        "agent_id": agent,
                        "agent_steps": [
                            {
                                "thought": secrets("thought"),
                                "tool_call": {
                                    "tool_name": name,
                                    "parameters": {secrets.name("argument name"): secrets("argument")},
                                    "result": f"{secrets('result')} {known}",
                                },
                            },
                            {
                                "thought": "again",
                                "tool_call": {"tool_name": name, "parameters": {}, "error": secrets("error")},
                            },
                        ],
                        "agent_response": f"{outlined} {known} {secrets('response')}",
                    }
                    for agent, name in (("second", tool), ("third", other))
                ],
            }
            for turn in range(turns)
        ],
        "reference_answer": secrets("expected answer"),
        "success": True,
    }


def panel(server: ModelServer) -> dict[str, Any]:
    """Every way to be asked: clip by clip, in one call, in batches, later in a cascade, by every protocol."""
    batch = {"mode": "batch", "timeouts": {"batch_poll_s": 0.05}}
    price = {"input": 1.0, "output": 10.0}
    return {
        "judges": [
            judge(server, "openai"),
            judge(server, "anthropic", "anthropic", repeats=2),
            judge(server, "quick", preset="quick", probability=True),
            judge(server, "decides", provider="openai_decisions"),
            judge(server, "decides_quickly", provider="systemone", preset="quick"),
            judge(server, "batch", model="b", **batch),
            judge(server, "batch_anthropic", "anthropic", model="b", **batch),
        ],
        "cascade": ["quick", "openai"],
        "embeddings": {"model": "e", "base_url": server.openai_url, "api_key_env": "TEST_KEY", "price": price},
    }


def sent(server: ModelServer) -> Iterator[tuple[str, str]]:
    """The path of every request, and what was in it."""
    for asked in server.requests():
        body = asked.body
        yield asked.path, body if isinstance(body, str) else orjson.dumps(body).decode()


@pytest.mark.slow
def test_no_credential_leaves_at_any_level(tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer) -> None:
    secrets = Secrets(1)
    home = Installation.at(str(tmp_path / "home"))
    asked = panel(server)
    judged = Judged(home, build_definitions(home, panel_of(asked, "test")), instance)
    drop = Path(home.drops.path) / "suite" / "day.json"
    drop.parent.mkdir(parents=True)
    drop.write_text(json.dumps([session(secrets, turns=2), session(secrets, turns=1)]))
    assert judged.run("suite/day").success
    (tmp_path / "home" / "panel.yaml").write_text(yaml.safe_dump(asked))
    tried = command("panel", "test", home=tmp_path / "home")
    assert tried.returncode == 0, tried.stderr

    everything = dict[str, str]()
    for path, body in sent(server):
        everything[path] = everything.get(path, "") + body
    assert {place for body in everything.values() for place in secrets.leaks(body)} == set()
    ends = {"/chat/completions", "/v1/messages", "/embeddings", "/files", "/v1/batches", "/messages/batches"}
    ends |= {"/decisions", "/systemone"}
    assert {end for end in ends if any(path.endswith(end) for path in everything)} == ends
    for level in ("clip", "category", "trajectory", "session"):
        for name in ("openai", "anthropic", "decides"):
            assert judged.rows("suite/day", f"{level}_verdicts", name), f"{name} was asked at level {level}"
    subjects = {row["subject"] for row in judged.rows("suite/day", "session_verdicts", "openai")}
    assert {"session", "turn/0", "turn/0/interaction/0"} <= subjects
    assert {"trajectory", "answer"} <= {
        row["subject"] for row in judged.rows("suite/day", "trajectory_verdicts", "openai")
    }
    assert judged.rows("suite/day", "canary_verdicts", "openai")
    assert KEY not in "".join(everything.values())
    files = tmp_path / "home" / "reports" / "suite" / "day"
    (asked_most,) = (
        each for each in json.loads((files / "report.json").read_text())["judges"] if each["judge"] == "anthropic"
    )
    count = asked_most["redacted"]["credential"]
    assert count > 100
    assert f"Redacted in what anthropic was asked: {count:,} credential" in (files / "report.md").read_text()
    assert f"<dt>anthropic</dt><dd>{count:,} credential</dd>" in (files / "report.html").read_text()


def test_reports_cover_credentials_where_the_panel_says_so(installation: Workspace) -> None:
    secrets = Secrets(2)
    shown: dict[str, Any] = session(secrets, turns=1) | {"session_id": "one"}
    for agent, name in zip(shown["agents"], ("first", "second"), strict=True):
        agent["id"] = name
    drop = Path(installation.home.drops.path) / "day.json"
    drop.parent.mkdir(parents=True)
    drop.write_text(json.dumps([shown]))

    def written(*, redact_reports: bool) -> str:
        panel = panel_of({"judges": [{"name": "rules", "provider": "rules"}], "redact_reports": redact_reports}, "test")
        made = replace(installation, definitions=build_definitions(installation.home, panel))
        assert made.run("day").success
        folder = Path(installation.home.reports("day").path)
        files = [path for path in folder.rglob("*") if path.is_file()]
        return "".join(_readable(path) for path in files)

    assert secrets.leaks(written(redact_reports=False))
    covered = written(redact_reports=True)
    assert secrets.leaks(covered) == set()
    assert "password=\u2588\u2588\u2588" in covered and "Authorization: Bearer \u2588\u2588" in covered


def _readable(path: Path) -> str:
    """The text of a file of a report, with what its viewer unpacks."""
    text = path.read_text()
    packed = re.findall(r'<script type="text/plain" id="viewer-[^"]*">([^<]*)</script>', text)
    return text + "".join(gzip.decompress(base64.b64decode(each)).decode() for each in packed)
