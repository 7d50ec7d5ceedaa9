"""What is said about a panel that cannot be used as it is written."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluation_assets
from evaluation_assets_tests.conftest import KEY, command
from evaluation_assets_tests.defs.test_model_judges import cli
from evaluation_assets_tests.model_judging import drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, rule

RULES = {"name": "rules", "provider": "rules"}


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("panel.yaml", {"quorum": 3, "judges": [RULES]}, "quorum 3 cannot be reached by a panel of 1"),
        ("panel.yaml", {"quorum": 2}, "quorum 2 cannot be reached by a panel of 1"),
        ("panel.yaml", {"judge": [RULES]}, "judge: unknown field; did you mean 'judges'?"),
        (
            "panel.yaml",
            {"judges": [RULES | {"max_concurency": 4}]},
            "judges[0].max_concurency: unknown field; did you mean 'max_concurrency'?",
        ),
        (
            "panel.yaml",
            {"judges": [RULES | {"temprature": 0}]},
            "judges[0].temprature: unknown field; parameters of requests, such as temperature, go into `parameters`",
        ),
        ("panel.yaml", {"judges": [RULES | {"price": {"in": 1}}]}, "judges[0].price.in: unknown field"),
        (
            "panel.yaml",
            {"embeddings": {"model": "m", "zzz": 1}},
            "embeddings.zzz: unknown field; known: provider, model",
        ),
        ("tool_types.yaml", {"category": {}}, "category: unknown field; did you mean 'categories'?"),
        ("groups.yaml", {"a": 1}, "a: must be fields with values"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_clear_line(
    tmp_path: Path, file: str, content: dict[str, object], says: str
) -> None:
    (tmp_path / file).write_text(json.dumps(content))
    done = command("panel", "list", home=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert file in line
    assert says in line
    assert "pydantic" not in line


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--model", "gpt-5"], "--model gpt-5 needs --provider"),
        (["--provider", "openai_compatible"], "--provider openai_compatible needs a base_url"),
        (["--provider", "openai_compatible", "--model", "m"], "--provider openai_compatible needs a base_url"),
        (["--provider", "nobody"], "unknown provider 'nobody'; choose one of: rules,"),
    ],
)
def test_half_a_judge_on_the_command_line_is_refused(tmp_path: Path, options: list[str], says: str) -> None:
    done = command("panel", "list", *options, home=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_provider_alone_is_its_default_model(tmp_path: Path) -> None:
    done = command("panel", "list", "--provider", "anthropic", home=tmp_path)
    assert done.returncode == 0
    assert "anthropic claude" in done.stdout


def test_trying_judges_without_a_model_says_that_none_was_called(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [RULES, judge(server, price=None)]}))
    tried = cli("panel", "test", "--home", tmp_path)
    assert tried.returncode == 0, tried.stdout
    assert tried.stdout.splitlines()[0] == "rules: ok, no model call"
    assert "tokens in" in tried.stdout.splitlines()[1]
    assert "None" not in tried.stdout


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_the_servers_own_reason_is_shown_without_keys_and_control_characters(
    tmp_path: Path, server: ModelServer, protocol: str
) -> None:
    server.script([rule("bad_request", message=f"\x1b[2Jno adapter\nfor {KEY}, " + "x" * 5000)])
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, protocol=protocol)]}))
    tried = cli("panel", "test", "--home", tmp_path)
    assert tried.returncode == 1
    (line,) = tried.stdout.splitlines()
    assert "FAILED, the endpoint refused the request (HTTP 400); the server says: " in line
    assert "no adapter for [masked], xxx" in line
    assert KEY not in tried.stdout + tried.stderr
    assert line.isprintable()
    assert len(line) < 400


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_refused_connection_is_not_called_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        dead = {"name": "dead", "provider": f"{protocol}_compatible", "model": "m", "base_url": url}
        dead |= {"timeouts": {"first_backoff_s": 0.02}}
        panel = tmp_path / "panel.yaml"
        panel.write_text(json.dumps({"judges": [dead | {"api_key_env": "TEST_KEY"}]}))
        done = command("panel", "test", home=tmp_path)
    assert "no connection (connection refused)" in done.stdout
    assert done.stderr == ""  # the same is not said twice


def test_a_reply_that_is_no_verdict_is_said_in_words(tmp_path: Path, server: ModelServer) -> None:
    server.script([rule("text", text="I like bananas.")])
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server)]}))
    tried = cli("panel", "test", "--home", tmp_path)
    assert tried.stdout.endswith(": FAILED, the reply is not a JSON object with scores.\n")


def test_a_metric_that_does_not_exist_is_named(tmp_path: Path) -> None:
    pytest.importorskip("autoevals", reason="autoevals is not installed")
    file = tmp_path / "panel.yaml"
    file.write_text("judges: [{name: m, provider: python, evaluator: {package: autoevals, metric: Nonsense}}]")
    done = command("panel", "list", "--panel", str(file), home=tmp_path)
    assert done.returncode == 2
    assert "judge m: autoevals has no metric Nonsense; it has: AnswerCorrectness" in done.stderr


def test_each_answer_is_checked_before_the_next_question(tmp_path: Path) -> None:
    answers = [
        "openai_compatible",
        "m",
        "http://localhost:1/v1",
        "mine",
        "localhost",
        "http://localhost:1/v1",
        "",
        "",
        "",
    ]
    made = cli("panel", "init", "--home", tmp_path, answers="\n".join([*answers, "n", "y"]) + "\n")
    assert made.returncode == 0, made.stderr
    assert "\n  kimi                  Moonshot's Kimi\n" in made.stdout
    refused = [line for line in (made.stdout + made.stderr).splitlines() if "Error:" in line]
    assert ["lower-case letters" in line for line in refused] == [True, False]
    written = yaml.safe_load((tmp_path / "panel.yaml").read_text())["judges"]
    assert [(judge["name"], judge.get("base_url")) for judge in written] == [
        ("mine", "http://localhost:1/v1"),
        ("rules", None),
    ], "the embedded judge is kept if that is the answer"
    assert f"panel test --home {tmp_path}" in made.stdout


def _init(home: Path, server: ModelServer, *answers: str) -> dict[str, Any]:
    """The panel that is written for a decision model, and what is answered from then on."""
    deciding = ["systemone", "jev", "cheap", server.openai_url, "TEST_KEY", "0.042", "full"]
    made = cli("panel", "init", "--home", home, answers="\n".join([*deciding, *answers, ""]))
    assert made.returncode == 0, made.stdout + made.stderr
    assert "(no reasons, only probabilities) is unsure?" in made.stdout
    written = yaml.safe_load((home / "panel.yaml").read_text())
    assert ("its errors have no bound" in made.stdout) == ("cascade" in written)
    return written


def test_questions_that_nobody_answers_end_with_what_to_do(tmp_path: Path) -> None:
    made = cli("panel", "init", "--home", tmp_path, answers="")
    assert made.returncode == 2 and "Aborted" not in made.stderr
    assert "Run this command in a terminal" in made.stderr.splitlines()[-1]
    assert not (tmp_path / "panel.yaml").exists()


def test_a_decision_model_and_then_a_language_model_are_a_cascade_that_is_priced_and_has_no_bound(
    tmp_path: Path, server: ModelServer
) -> None:
    writing = ["openai_compatible", "m", "dear", server.openai_url, "TEST_KEY", "", "full"]
    written = _init(tmp_path, server, "y", *writing, "n", "y", "n")
    assert written["cascade"] == ["cheap", "dear"]
    assert [judge.get("price") for judge in written["judges"]] == [{"input": 0.042, "output": 0.0}, None]
    written["judges"][1]["price"] = {"input": 1.0, "output": 10.0}
    (tmp_path / "panel.yaml").write_text(yaml.safe_dump(written))
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    planned = cli("plan", tmp_path / "d.jsonl", "--home", tmp_path)
    assert planned.returncode == 0, planned.stderr
    lines = planned.stdout.splitlines()
    for name in ("cheap", "dear"):
        at = next(place for place, line in enumerate(lines) if line.startswith(f"  judge {name} "))
        assert "12 new calls" in lines[at]
        assert lines[at + 1].startswith("    expected $") and lines[at + 2].startswith("    at most  $")
    assert "The cascade is not fitted, so its errors have no bound" in planned.stdout
    assert server.requests() == []
    tried = cli("panel", "test", "--home", tmp_path)
    assert tried.returncode == 0, tried.stdout
    assert [line.split(":")[0] for line in tried.stdout.splitlines()] == ["cheap", "dear"]


def test_a_decision_model_in_the_price_list_needs_no_price_and_its_most_has_no_replies(tmp_path: Path) -> None:
    made = cli(
        "panel", "init", "--home", tmp_path, answers="\n".join(["typesafe", "", "jev", "", "full", "n", "n", "n", ""])
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "as your provider bills" not in made.stdout
    (judge,) = yaml.safe_load((tmp_path / "panel.yaml").read_text())["judges"]
    assert "price" not in judge
    (tmp_path / "d.jsonl").write_bytes(drop_of(1))
    planned = cli("plan", tmp_path / "d.jsonl", "--home", tmp_path)
    lines = planned.stdout.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("  judge jev "))
    for line, begin in zip(lines[at + 1 : at + 3], ("    expected $0.00", "    at most  $0.00"), strict=True):
        assert line.startswith(begin) and line.endswith(" 0 out")
    assert "price" not in planned.stdout.split("missing")[1]


def test_who_wants_both_asked_about_everything_gets_no_cascade(tmp_path: Path, server: ModelServer) -> None:
    writing = ["openai_compatible", "m", "dear", server.openai_url, "TEST_KEY", "", "full"]
    assert "cascade" not in _init(tmp_path / "both", server, "y", *writing, "n", "n", "n")
    assert [judge["name"] for judge in _init(tmp_path / "one", server, "n", "n")["judges"]] == ["cheap"]


def test_a_model_that_does_not_exist_is_named_when_it_happens_and_in_the_outcome(
    tmp_path: Path, server: ModelServer
) -> None:
    server.script([rule("not_found")])
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server)]}))
    (tmp_path / "d.jsonl").write_bytes(drop_of(3))
    done = cli("evaluate", tmp_path / "d.jsonl", "--home", tmp_path)
    assert done.returncode == 1
    assert (done.stdout + done.stderr).count("no such model or endpoint") == 2
    assert "Correct model or base_url in panel.yaml" in done.stdout
    assert "auth" not in done.stdout + done.stderr


@pytest.mark.parametrize("price", [{"input": 1.0, "output": 10.0}, None])
def test_the_terminal_says_what_the_judges_that_are_models_took(
    tmp_path: Path, server: ModelServer, price: dict[str, float] | None
) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, price=price), RULES]}))
    own = tmp_path / "rubrics" / "trajectory" / "general.yaml"
    own.parent.mkdir(parents=True)
    shipped = (
        Path(evaluation_assets.__file__).parent / "core" / "judging" / "rubrics" / "trajectory" / "trajectory.yaml"
    )
    own.write_text(shipped.read_text().replace("key: task_completion", "key: politeness"))
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    first = cli("evaluate", tmp_path / "d.jsonl", "--home", tmp_path, "--yes")
    assert first.returncode == 0, first.stdout + first.stderr
    (line,) = [line for line in first.stdout.splitlines() if line.startswith("  cost ")]
    calls = len(server.requests())
    assert f" {calls} requests, " in line and " tokens in" in line and " out, cost " in line
    assert line.endswith("cost unknown") == (price is None)
    assert "\n  own criterion      politeness " in first.stdout
    page = (tmp_path / "reports" / "d" / "report.html").read_text()
    assert "lower bound" not in page, "no verdict has a price, or all have one"
    again = cli("evaluate", tmp_path / "d.jsonl", "--home", tmp_path, "--yes", "--verbose")
    assert "politeness" in again.stdout
    (line,) = [line for line in again.stdout.splitlines() if line.startswith("  judge one ")]
    assert line.startswith("  judge one          0 requests, ") and line.endswith(" verdicts from the ledger")


@pytest.mark.parametrize(
    ("given", "price"),
    [
        (["", ""], {"input": 0.25, "output": 2.0, "cached_input": 0.025}),
        (["", "3.5"], {"input": 0.25, "output": 3.5, "cached_input": 0.025}),
        (["0.5", "3.5"], {"input": 0.5, "output": 3.5}),
    ],
)
def test_a_model_behind_another_endpoint_is_offered_at_the_list_price_of_its_name(
    tmp_path: Path, given: list[str], price: dict[str, float]
) -> None:
    answers = ["openai_compatible", "gpt-5-mini", "", "http://localhost:1/v1", "TEST_KEY", *given, "quick"]
    made = cli("panel", "init", "--home", tmp_path, answers="\n".join([*answers, "n", "n", ""]))
    assert made.returncode == 0, made.stdout + made.stderr
    (judge,) = yaml.safe_load((tmp_path / "panel.yaml").read_text())["judges"]
    assert judge["price"] == price and judge["preset"] == "quick" and judge["name"] == "gpt_5_mini"


def test_what_endpoints_do_not_say_is_unknown_on_the_terminal(tmp_path: Path, server: ModelServer) -> None:
    server.script([rule("bad_request")])
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server)]}))
    (tmp_path / "d.jsonl").write_bytes(drop_of(1))
    done = cli("evaluate", tmp_path / "d.jsonl", "--home", tmp_path, "--yes")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("  cost ")]
    _, asked, failed = line.split("; ")
    assert asked.endswith("requests, tokens unknown, cost unknown") and " 0 requests" not in asked
    assert re.fullmatch(r"\d+ verdicts failed", failed)


def test_a_budget_that_is_no_number_is_refused(tmp_path: Path) -> None:
    done = cli("evaluate", "examples", "--home", tmp_path, "--budget", "nan")
    assert done.returncode == 2 and "'nan' is not a number" in done.stderr
