"""`evaluate` shows its quote and asks before it spends anything."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.defs.test_model_judges import cli
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer
from evaluation_assets_tests.runs.test_terminal import Terminal
from evaluation_assets_tests.test_ui import wait_for


def arguments(tmp_path: Path, server: ModelServer, panel: dict[str, object] | None = None, **more: Any) -> list[str]:
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, **more)]} | (panel or {})))
    return [str(tmp_path / "d.jsonl"), "--home", str(tmp_path / "home"), "--panel", str(tmp_path / "panel.yaml")]


def test_on_a_terminal_no_means_that_nothing_is_called_or_taken_in(tmp_path: Path, server: ModelServer) -> None:
    terminal = Terminal(["evaluate", *arguments(tmp_path, server)])
    wait_for(lambda: b"Evaluate? [y/N]" in terminal.written or terminal.process.poll() is not None or None, 120)
    terminal.type("n\n")
    status, written = terminal.end()
    assert status == 2
    assert "judge one: " in written and "at most $" in written
    assert server.requests() == []
    assert not list((tmp_path / "home" / "drops").glob("*.jsonl"))


def test_on_a_terminal_yes_evaluates_and_what_is_paid_for_is_not_asked_again(
    tmp_path: Path, server: ModelServer
) -> None:
    given = arguments(tmp_path, server, preset="quick")
    terminal = Terminal(["evaluate", *given])
    wait_for(lambda: b"Evaluate? [y/N]" in terminal.written or terminal.process.poll() is not None or None, 120)
    terminal.type("y\n")
    assert terminal.end()[0] in (0, 1)
    assert len(server.requests()) == 2, "one call a trajectory"
    assert "Clips scored | not asked" in (tmp_path / "home" / "reports" / "d" / "report.md").read_text()
    status, written = Terminal(["evaluate", *given]).end()
    assert status in (0, 1)
    assert "Evaluate?" not in written and len(server.requests()) == 2


def test_without_a_terminal_a_quote_above_the_limit_needs_consent_or_a_budget(
    tmp_path: Path, server: ModelServer
) -> None:
    given = arguments(tmp_path, server, {"ask_above_usd": 0.0001})
    refused = cli("evaluate", *given)
    assert refused.returncode == 2
    assert "is above ask_above_usd: 0.0001" in refused.stderr and "--yes" in refused.stderr
    assert server.requests() == []
    assert cli("evaluate", *given, "--budget", "5").returncode in (0, 1)
    assert len(server.requests()) == 2 * (CLIPS + 3)


@pytest.mark.parametrize("free", ["embedded", "price of 0"])
def test_nothing_is_asked_where_nothing_can_cost(tmp_path: Path, server: ModelServer, free: str) -> None:
    given = arguments(tmp_path, server, {"ask_above_usd": 0}, price={"input": 0, "output": 0}, preset="quick")
    if free == "embedded":
        given = [str(SAMPLE), "--home", str(tmp_path / "home")]
    status, written = Terminal(["evaluate", *given]).end()
    assert status in (0, 1)
    assert "Evaluate?" not in written


def test_a_budget_that_limits_nothing_is_refused_before_any_call(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, price=None)
    refused = cli("evaluate", *given, "--budget", "0.01")
    assert refused.returncode == 2
    assert "the price of judge one (m) is unknown" in refused.stderr
    assert "`price`" in refused.stderr and "--budget-calls" in refused.stderr
    assert server.requests() == []
    assert not list((tmp_path / "home" / "drops").glob("*.jsonl"))


def test_a_budget_of_calls_limits_a_judge_without_a_price(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, price=None)
    limited = cli("evaluate", *given, "--budget-calls", "3", "--budget", "0.01")
    assert limited.returncode == 3
    assert len(server.requests()) == 3
    assert cli("evaluate", *given).returncode in (0, 1)
    assert len(server.requests()) == 2 * (CLIPS + 3), "what was paid for is not asked again"


def test_a_budget_without_a_price_is_no_matter_where_no_judge_is_selected(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, price=None)
    assert cli("evaluate", *given, "--budget", "0.01", "--preprocess-only").returncode == 0


def test_plan_names_what_is_missing_once(tmp_path: Path, server: ModelServer) -> None:
    embeddings = {"model": "e", "base_url": server.openai_url, "api_key_env": "NO_SUCH_KEY"}
    given = arguments(tmp_path, server, {"embeddings": embeddings}, price=None, api_key_env="NO_SUCH_KEY")
    (tmp_path / "e.jsonl").write_bytes(drop_of(1))
    said = cli("plan", str(tmp_path / "e.jsonl"), *given).stdout
    missing = said.partition("\nmissing\n")[2]
    assert missing.splitlines() == [
        "  price              of judge one (m): set its `price` in panel.yaml, or limit calls with --budget-calls",
        "  price              of the embeddings (e): set its `price` in panel.yaml, or limit calls with --budget-calls",
        "  key                NO_SUCH_KEY is not set; judge one and the embeddings cannot be asked",
    ]
    (tmp_path / "known").mkdir()
    assert "missing" not in cli("plan", *arguments(tmp_path / "known", server)).stdout
