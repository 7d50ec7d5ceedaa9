"""`evaluate` shows its quote and asks before it spends anything."""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import evaluation_assets as ea
from evaluation_assets_tests.conftest import SAMPLE, command
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


def test_a_signal_at_the_question_is_no_failure(tmp_path: Path, server: ModelServer) -> None:
    terminal = Terminal(["evaluate", *arguments(tmp_path, server)])
    wait_for(lambda: b"Evaluate? [y/N]" in terminal.written or terminal.process.poll() is not None or None, 120)
    terminal.process.send_signal(signal.SIGINT)
    status, written = terminal.end()
    assert status == 130
    assert "stopped by SIGINT." in written and "Aborted" not in written
    assert server.requests() == []


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


def test_a_budget_is_consent_and_a_judge_without_its_key_is_named_before(tmp_path: Path, server: ModelServer) -> None:
    keyless = judge(server, "two", api_key_env="NO_SUCH_KEY", preset="quick")
    given = arguments(tmp_path, server, {"judges": [judge(server, preset="quick"), keyless]})
    status, written = Terminal(["evaluate", *given, "--budget", "5"]).end()
    assert status == 1, "one judge answered nothing"
    assert "judge one: " in written and "Evaluate?" not in written and len(server.requests()) == 2
    assert "NO_SUCH_KEY is not set; judge two cannot be asked" in written.partition("judge one: ")[0]


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


def test_a_judge_of_unknown_price_does_not_hide_what_another_costs(tmp_path: Path, server: ModelServer) -> None:
    judges = [judge(server), judge(server, "two", price=None)]
    given = arguments(tmp_path, server, {"ask_above_usd": 0.0001, "judges": judges})
    refused = cli("evaluate", *given)
    assert refused.returncode == 2
    assert "the quote of at least $" in refused.stderr and "is above ask_above_usd: 0.0001" in refused.stderr
    with pytest.raises(ea.QuoteTooHigh):
        ea.evaluate(given[0], panel=given[4], home=tmp_path / "home")
    assert server.requests() == []


def test_nobody_is_asked_to_pay_for_a_judge_of_a_drop_that_was_never_evaluated(
    tmp_path: Path, server: ModelServer
) -> None:
    refused = cli("evaluate", *arguments(tmp_path, server, {"ask_above_usd": 0}), "--judge", "one")
    assert refused.returncode == 2
    assert "d: never evaluated, or changed since. Evaluate it with all judges first, without --judge" in refused.stderr
    assert "ask_above_usd" not in refused.stderr and not list((tmp_path / "home" / "drops").glob("*.jsonl"))


@pytest.mark.parametrize("free", ["embedded", "price of 0"])
def test_nothing_is_asked_where_nothing_can_cost(tmp_path: Path, server: ModelServer, free: str) -> None:
    given = arguments(tmp_path, server, {"ask_above_usd": 0}, price={"input": 0, "output": 0}, preset="quick")
    if free == "embedded":
        given = [str(SAMPLE), "--home", str(tmp_path / "home")]
    status, written = Terminal(["evaluate", *given]).end()
    assert status in (0, 1)
    assert "Evaluate?" not in written


@pytest.mark.parametrize("key", [None, ""], ids=["not set", "empty"])
def test_without_a_key_of_any_judge_nothing_is_evaluated(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    keys = {"TEST_KEY": "", "OTHER_KEY": key or ""}
    panel: dict[str, object] = {
        "judges": [judge(server), judge(server, "two", api_key_env="OTHER_KEY", price={"input": 0, "output": 0})]
    }
    given = arguments(tmp_path, server, panel, preset="quick")
    if key is None:
        monkeypatch.delenv("OTHER_KEY", raising=False)
        del keys["OTHER_KEY"]
    refused = command("evaluate", *given, "--yes", home=tmp_path / "home", **keys)
    assert refused.returncode == 2
    assert refused.stderr == (
        "evaluation-assets: no judge can be asked, because no API key is set (one: TEST_KEY, two: OTHER_KEY). Set the "
        "variable, or choose judges that need none, such as provider: rules, in panel.yaml\n"
    )
    assert server.requests() == []
    assert not list((tmp_path / "home" / "drops").glob("*.jsonl")) and not list((tmp_path / "home/lake").iterdir())
    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(ea.UnusableInput, match="no judge can be asked"):
        ea.evaluate(given[0], home=tmp_path / "home", panel=given[-1], budget=5.0)


def test_without_a_key_what_is_in_the_ledger_is_evaluated(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, preset="quick")
    assert cli("evaluate", *given, "--yes").returncode in (0, 1)
    asked = len(server.requests())
    again = command("evaluate", *given, "--yes", home=tmp_path / "home", TEST_KEY="")
    assert again.returncode in (0, 1), again.stderr
    assert len(server.requests()) == asked


def test_a_judge_with_a_key_is_enough(tmp_path: Path, server: ModelServer) -> None:
    panel: dict[str, object] = {
        "quorum": 1,
        "judges": [judge(server, preset="quick"), judge(server, "two", api_key_env="NO_SUCH_KEY")],
    }
    given = arguments(tmp_path, server, panel)
    done = cli("evaluate", *given, "--yes")
    assert done.returncode in (0, 1), done.stderr
    assert len(server.requests()) == 2


def test_a_budget_that_limits_nothing_is_refused_before_any_call(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, price=None)
    refused = cli("evaluate", *given, "--budget", "0.01")
    assert refused.returncode == 2
    assert "the price of judge one (m) is unknown" in refused.stderr
    assert "`price`" in refused.stderr and "--budget-calls" in refused.stderr
    assert server.requests() == []
    assert not list((tmp_path / "home" / "drops").glob("*.jsonl"))


def test_a_budget_of_money_asks_for_no_price_where_the_ledger_has_every_reply(
    tmp_path: Path, server: ModelServer
) -> None:
    given = arguments(tmp_path, server, price=None)
    assert cli("evaluate", *given).returncode in (0, 1)
    asked = len(server.requests())
    again = cli("evaluate", *given, "--as", "again", "--budget", "0.01")
    assert again.returncode in (0, 1), again.stderr
    result = ea.evaluate(given[0], panel=given[4], home=tmp_path / "home", name="more", budget=0.01)
    assert result.drop == "more"
    attack = ["panel", "attack", "one", *given[1:]]
    assert cli(*attack, "--budget", "0.01").returncode == 2
    assert len(server.requests()) == asked
    assert cli(*attack, "--yes").returncode in (0, 1)
    asked = len(server.requests())
    assert cli(*attack, "--budget", "0.01").returncode in (0, 1)
    assert len(server.requests()) == asked


def test_a_budget_of_calls_limits_a_judge_without_a_price(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, price=None)
    limited = cli("evaluate", *given, "--budget-calls", "3", "--budget", "0.01")
    assert limited.returncode == 3
    assert len(server.requests()) == 3
    assert cli("evaluate", *given).returncode in (0, 1)
    assert len(server.requests()) == 2 * (CLIPS + 3), "what was paid for is not asked again"


@pytest.mark.slow
def test_a_budget_is_for_all_drops_of_a_command_together(tmp_path: Path, server: ModelServer) -> None:
    given = arguments(tmp_path, server, max_concurrency=1)
    (tmp_path / "runs").mkdir()
    for number in range(3):
        (tmp_path / "runs" / f"d{number}.jsonl").write_bytes(drop_of(4, f"w{number}"))
    calls = 4 * (CLIPS + 3)
    limited = cli("evaluate", tmp_path / "runs", *given[1:], "--budget-calls", str(calls + 1))
    assert limited.returncode == 3
    assert len(server.requests()) == calls + 1, "the first drop and one question of the second"
    assert f"budget: {calls + 1} model calls for all 3 drops together" in limited.stderr
    of_a_drop = costs(tmp_path / "home")
    dollars = cli("evaluate", tmp_path / "runs", *given[1:], "--budget", f"{1.5 * of_a_drop:g}")
    assert dollars.returncode == 3
    assert of_a_drop < costs(tmp_path / "home") <= 2.5 * of_a_drop


def costs(home: Path) -> float:
    """What the ledger says that all runs paid."""
    with closing(sqlite3.connect(home / "ledger.sqlite")) as ledger:
        return ledger.execute("select sum(cost_usd) from replies").fetchone()[0]


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
        "  key                NO_SUCH_KEY is not set; judge one and the embeddings cannot be asked: "
        "export NO_SUCH_KEY=<key>",
    ]
    (tmp_path / "known").mkdir()
    assert "missing" not in cli("plan", *arguments(tmp_path / "known", server)).stdout
