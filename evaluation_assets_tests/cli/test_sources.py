"""`sources list` and `sources pull`, as processes."""

import re
import socket
from pathlib import Path
from typing import Any

import yaml

from evaluation_assets.core.system.commands import installing
from evaluation_assets_tests.conftest import command, command_of_its_own, record


def home_with(folder: Path, **sources: dict[str, Any]) -> Path:
    home = folder / "home"
    home.mkdir()
    (home / "sources.yaml").write_text(yaml.safe_dump({"sources": sources}, sort_keys=False))
    return home


def logs_in(folder: Path) -> dict[str, Any]:
    logs = folder / "logs"
    logs.mkdir()
    (logs / "a.jsonl").write_bytes(record())
    return {"type": "folder", "path": str(logs), "quiet_minutes": 0}


def test_the_sources_are_listed_without_credentials(tmp_path: Path) -> None:
    home = home_with(
        tmp_path,
        logs=logs_in(tmp_path),
        prod={"type": "mlflow", "tracking_uri": "http://me:secret-word@mlflow:5000", "share": 0.1},
    )
    done = command("sources", "list", home=home)
    assert done.stdout.splitlines() == [
        "logs",
        f"  folder: {tmp_path}/logs",
        "  every 60 s, 0 min after a trace's end",
        "prod",
        "  mlflow: http://mlflow:5000, all experiments",
        "  every 60 s, 10 min after a trace's end, a sample of 10%",
    ]


def test_a_home_without_sources_says_where_they_belong(tmp_path: Path) -> None:
    assert "no sources; add them to" in command("sources", "list", home=tmp_path).stdout
    done = command("sources", "pull", home=tmp_path)
    assert (done.returncode, "sources.yaml" in done.stderr) == (2, True)


def test_a_dry_run_shows_the_drops_and_writes_nothing(tmp_path: Path) -> None:
    home = home_with(tmp_path, logs=logs_in(tmp_path))
    done = command("sources", "pull", "--dry-run", home=home)
    drop, total = done.stdout.splitlines()
    assert re.fullmatch(r"logs/\d{4}-\d\d-\d\dT\d\d  1 trace", drop)
    assert total == "logs: 1 trace would be fetched into 1 drop"
    assert [path.name for path in home.iterdir()] == ["sources.yaml"]


def test_traces_are_pulled_once(tmp_path: Path) -> None:
    home = home_with(tmp_path, logs=logs_in(tmp_path))
    first, second = (command("sources", "pull", "logs", "--since", "2h", home=home) for _ in range(2))
    assert first.stdout.splitlines()[-1] == "logs: 1 trace fetched into 1 drop"
    assert second.stdout.splitlines() == ["logs: 0 traces fetched into 0 drops"]
    assert [path.read_bytes() for path in home.glob("drops/logs/*/a.jsonl")] == [record()]


def test_a_store_that_is_down_does_not_keep_the_others_back(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://user:secret-word@127.0.0.1:{free.getsockname()[1]}"
    home = home_with(
        tmp_path,
        down={"type": "phoenix", "url": url},
        also_down={"type": "mlflow", "tracking_uri": url},
        logs=logs_in(tmp_path),
    )
    done = command("sources", "pull", home=home)
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stderr.splitlines()] == ["down:", "also_down:"]
    assert "logs: 1 trace fetched into 1 drop" in done.stdout
    assert "secret-word" not in done.stdout + done.stderr


def test_an_unknown_name_and_a_wrong_duration_are_usage_errors(tmp_path: Path) -> None:
    home = home_with(tmp_path, logs=logs_in(tmp_path))
    assert command("sources", "pull", "nope", home=home).returncode == 2
    done = command("sources", "pull", "--since", "a week", home=home)
    assert (done.returncode, "for example 30m, 12h or 7d" in done.stderr) == (2, True)


def test_a_missing_client_is_one_sentence_with_the_command(tmp_path: Path) -> None:
    home = home_with(tmp_path, prod={"type": "mlflow", "tracking_uri": "http://127.0.0.1:9"})
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "mlflow.py").write_text("raise ModuleNotFoundError('mlflow', name='mlflow')")
    done = command_of_its_own("sources", "pull", home=home, PYTHONPATH=str(tmp_path / "absent"))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"prod: mlflow needs an extra package: {installing('mlflow')}")
