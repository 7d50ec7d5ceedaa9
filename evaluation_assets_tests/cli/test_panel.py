"""What is said about a panel that cannot be used as it is written."""

import json
import socket
from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import KEY, command
from evaluation_assets_tests.defs.test_model_judges import cli
from evaluation_assets_tests.model_judging import judge
from evaluation_assets_tests.model_server import ModelServer, rule

RULES = {"name": "rules", "provider": "rules"}


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("panel.yaml", {"quorum": 3, "judges": [RULES]}, "quorum 3 cannot be reached by a panel of 1"),
        ("panel.yaml", {"quorum": 2}, "quorum 2 cannot be reached by a panel of 1"),
        ("panel.yaml", {"judge": [RULES]}, "judge: unknown field; did you mean judges?"),
        (
            "panel.yaml",
            {"judges": [RULES | {"max_concurency": 4}]},
            "judges.0.max_concurency: unknown field; did you mean max_concurrency?",
        ),
        ("panel.yaml", {"judges": [RULES | {"price": {"in": 1}}]}, "judges.0.price.in: unknown field"),
        (
            "panel.yaml",
            {"embeddings": {"model": "m", "zzz": 1}},
            "embeddings.zzz: unknown field; known: provider, model",
        ),
        ("tool_types.yaml", {"category": {}}, "category: unknown field; did you mean categories?"),
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
        panel = tmp_path / "panel.yaml"
        panel.write_text(json.dumps({"judges": [dead | {"api_key_env": "TEST_KEY"}]}))
        done = command("panel", "test", home=tmp_path)
    assert "no connection (connection refused)" in done.stdout


def test_a_metric_that_does_not_exist_is_named(tmp_path: Path) -> None:
    pytest.importorskip("autoevals", reason="autoevals is not installed")
    file = tmp_path / "panel.yaml"
    file.write_text("judges: [{name: m, provider: python, evaluator: {package: autoevals, metric: Nonsense}}]")
    done = command("panel", "list", "--panel", str(file), home=tmp_path)
    assert done.returncode == 2
    assert "judge m: autoevals has no metric Nonsense; it has: AnswerCorrectness" in done.stderr
