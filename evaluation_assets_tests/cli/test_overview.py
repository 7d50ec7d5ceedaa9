"""The commands that show what is known over all drops."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.small_disks import small_disk


def drop_at(home: Path, name: str, agent: str) -> None:
    folder = home / "drops" / "support"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_bytes(b"".join(record(str(task), success=task % 2 == 0) for task in range(4)))
    (folder / f"{name}.drop.yaml").write_text(json.dumps({"agent": agent, "agent_version": "1"}))


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    drop_at(home, "one", "first")
    drop_at(home, "two", "second\x1b[31m\u202e::error::")
    done = command("evaluate", home / "drops" / "support", "--quiet", home=home)
    assert done.returncode == 0, done.stderr
    return home


def test_the_leaderboard_names_the_agents(evaluated: Path) -> None:
    done = command("leaderboard", "--format", "json", home=evaluated)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["agent"] for row in rows} == {"first", "second\x1b[31m\u202e::error::"}
    assert {row["suite"] for row in rows} == {"support"}
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    assert metrics[:2] == ["success", "overall"] and len(metrics) > 2


def test_the_overview_is_short_and_leads_on(evaluated: Path) -> None:
    """It was a wall of seven tables, most of them empty at first."""
    done = command("overview", home=evaluated)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "2 drops, the newest first",
        "  support/two  success 2 of 4 (50.0%)",
        "  support/one  success 2 of 4 (50.0%)",
        "",
        "1 failure group, the gravest first",
    ]
    more = ("open DROP", "groups show ID", "leaderboard")
    assert lines[6:] == ["", "More:", *(f"  evaluation-assets {each} --home {evaluated}" for each in more)]
    assert re.fullmatch(r"As a page, with a search of runs: file:///\S+/reports/index.html\n", done.stderr)


def test_tables_have_no_escapes(evaluated: Path) -> None:
    done = command("leaderboard", home=evaluated)
    assert all(character.isprintable() or character == "\n" for character in done.stdout)
    assert "second" in done.stdout and "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_overview_lists_ten_drops(tmp_path: Path) -> None:
    for number in range(12):
        drop_at(tmp_path, f"night{number}", "agent")
    assert command("evaluate", "--all", "--quiet", home=tmp_path).returncode == 0
    said = command("overview", home=tmp_path).stdout
    assert said.startswith("12 drops, the newest first\n") and "  and 2 more; the page lists all\n" in said
    assert "its file is gone" not in said and "delete DROP" not in said
    (tmp_path / "drops" / "support" / "night11.jsonl").unlink()
    lines = command("overview", home=tmp_path).stdout.splitlines()
    (gone,) = [line for line in lines if "its file is gone" in line]
    assert lines[-1] == f"  evaluation-assets delete DROP --home {tmp_path}"
    assert gone.startswith("  support/night11 ") and len(gone) <= 80


def test_drift_says_what_its_figures_mean(tmp_path: Path) -> None:
    for name in ("one", "two"):
        drop_at(tmp_path, name, "agent")
        assert command("evaluate", "--all", "--quiet", home=tmp_path).returncode == 0
        if name == "one":
            assert "no drop of a suite was evaluated after its baseline" in command("drift", home=tmp_path).stdout
            assert command("baseline", "promote", "support/one", home=tmp_path).returncode == 0
    title, head, row, *legend = command("drift", home=tmp_path).stdout.splitlines()
    assert (title, head.split()) == (
        "drift since the baseline",
        ["suite", "metric", "drops", "drift", "e-value", "CUSUM"],
    )
    assert row.split()[:4] == ["support", "success", "1", "no"]
    assert [line.split(":")[0].strip() for line in legend] == ["e-value", "CUSUM"]


def test_rows_and_columns_without_a_value_are_left_out(tmp_path: Path) -> None:
    drop_at(tmp_path, "one", "first")
    (tmp_path / "labels").mkdir()
    label = {"drop": "support/one", "trajectory_id": "0", "label": "pass", "annotator": "me"}
    (tmp_path / "labels" / "mine.jsonl").write_text(json.dumps(label))
    (tmp_path / "panel.yaml").write_text("judges: [{name: a, provider: rules}, {name: b, provider: rules}]")
    assert command("evaluate", tmp_path / "drops" / "support", "--quiet", home=tmp_path).returncode == 0
    said = command("judges", home=tmp_path).stdout
    header = said[said.index("judge cards\n") :].splitlines()[1]
    assert header.endswith("may_gate") and "gives_in_to" not in header and len(header) <= 80
    rates = said[said.index("pass rates\n") :].splitlines()
    assert len(rates) > 2 and not [line for line in rates[2:] if line.endswith(" 0")]


@pytest.mark.parametrize("name", ["judges", "drift"])
def test_a_single_table(evaluated: Path, name: str) -> None:
    done = command(name, "--format", "json", home=evaluated)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), list)


def test_labels_that_cannot_be_read_are_told_of(evaluated: Path) -> None:
    """They were lost in silence: the card said that there are no labels."""
    (evaluated / "labels").mkdir(exist_ok=True)
    (evaluated / "labels" / "mine.jsonl").write_text(
        '{"drop": "support/one", "trajectory_id": "0", "label": "perhaps"}\n'
    )
    done = command("judges", home=evaluated)
    (evaluated / "labels" / "mine.jsonl").unlink()
    assert done.returncode == 0
    assert (
        "warning: labels: readable: 1 of 1 lines are not labels: mine.jsonl:1: label 'perhaps' is neither"
        in done.stderr
    )


@pytest.mark.parametrize("name", ["overview", "leaderboard"])
def test_a_mistyped_home_is_not_created(tmp_path: Path, name: str) -> None:
    assert command(name, home=tmp_path / "typo").returncode == 2
    assert not (tmp_path / "typo").exists()


def test_nothing_evaluated_is_said(tmp_path: Path) -> None:
    done = command("overview", home=tmp_path)
    assert done.returncode == 2
    assert "no drop has been evaluated" in done.stderr


def test_rows_of_the_leaderboard_without_a_name_can_be_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        drop_at(tmp_path, name, "first")
        (tmp_path / "drops" / "support" / f"{name}.drop.yaml").unlink()
    assert command("evaluate", tmp_path / "drops" / "support", "--quiet", home=tmp_path).returncode == 0
    done = command("leaderboard", home=tmp_path)
    lines = done.stdout.splitlines()
    heading = next(at for at, line in enumerate(lines) if line.startswith("  support: overall, "))
    rows = lines[heading + 1 : heading + 3]
    assert sorted(row.split("unnamed, ")[1].split()[0] for row in rows) == ["support/one", "support/two"]


def test_the_leaderboard_fits_a_terminal(evaluated: Path) -> None:
    lines = command("leaderboard", home=evaluated).stdout.splitlines()
    heading = next(at for at, line in enumerate(lines) if line.startswith("  support: success, "))
    assert lines[heading + 1].startswith("    1  first 1  ")
    assert max(map(len, lines)) <= 80


def test_a_suite_whose_versions_share_no_task_is_said_not_to_be_ranked(tmp_path: Path) -> None:
    drop_at(tmp_path, "one", "first")
    drop_at(tmp_path, "two", "second")
    (tmp_path / "drops" / "support" / "two.jsonl").write_bytes(record("elsewhere", success=True))
    assert command("evaluate", tmp_path / "drops" / "support", "--quiet", home=tmp_path).returncode == 0
    done = command("leaderboard", home=tmp_path)
    assert done.stdout == "leaderboard\n  support: not ranked, as no task was done by all versions\n"


def test_versions_with_one_model_and_no_name_can_be_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        drop_at(tmp_path, name, "first")
        (tmp_path / "drops" / "support" / f"{name}.drop.yaml").write_text("{suite: support, model: small}")
    assert command("evaluate", tmp_path / "drops" / "support", "--quiet", home=tmp_path).returncode == 0
    done = command("leaderboard", home=tmp_path)
    assert "unnamed (small), support/one" in done.stdout and "unnamed (small), support/two" in done.stdout


def test_a_long_name_of_an_agent_is_cut_in_the_table(tmp_path: Path) -> None:
    drop_at(tmp_path, "one", "first")
    (tmp_path / "drops" / "support" / "one.drop.yaml").write_text(f"{{suite: support, agent: {'L' * 300}}}")
    assert command("evaluate", tmp_path / "drops" / "support", "--quiet", home=tmp_path).returncode == 0
    done = command("leaderboard", home=tmp_path)
    assert f"{'L' * 59}…, support/one  " in done.stdout and "L" * 60 not in done.stdout
    assert "L" * 300 in command("leaderboard", "--format", "json", home=tmp_path).stdout


@pytest.mark.slow
def test_runs_before_the_baseline_are_no_drift_also_when_they_are_judged_again(tmp_path: Path) -> None:
    folder = tmp_path / "drops" / "support"
    for name, failing in (("z_old", 8), ("a_new", 2)):
        drop_at(tmp_path, name, "agent")
        (folder / f"{name}.jsonl").write_bytes(b"".join(record(str(n), success=n >= failing) for n in range(12)))
        file = folder / f"{name}.jsonl"
        assert command("evaluate", file, "--as", f"support/{name}", "--quiet", home=tmp_path).returncode == 0
    for panel in ("[{name: rules, provider: rules}]", "[{name: other, provider: rules}]"):
        (tmp_path / "panel.yaml").write_text(f"judges: {panel}")
        done = command("evaluate", "--all", "--quiet", home=tmp_path)
        assert done.returncode in (0, 1)  # 1: outcomes of z_old fall against the baseline, whatever the panel
        assert command("baseline", "promote", "support/a_new", home=tmp_path).returncode == 0
        assert json.loads(command("drift", "--format", "json", home=tmp_path).stdout) == []


def test_what_fails_all_tables_is_said_of_the_first_ones(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    with small_disk(lake, "5m"):
        drop_at(tmp_path, "one", "first")
        assert command("evaluate", "--all", "--quiet", home=tmp_path).returncode == 0
        subprocess.run(["mount", "-o", "remount,ro", str(lake)], check=True)
        done = command("overview", home=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.count("it is read-only. Make it writable and try again") == 2
    assert re.search(r"again and \d more\.$", line)


@pytest.mark.slow
def test_drops_are_in_the_order_of_their_runs_in_whatever_order_they_are_evaluated(tmp_path: Path) -> None:
    """A backlog was told in the order of its evaluation, and a night that was evaluated again became the newest."""
    folder = tmp_path / "drops" / "support"
    for day in (3, 1, 2):
        drop_at(tmp_path, f"day{day}", "agent")
        runs = (record(str(task), success=day != 2, timestamp=f"2026-03-0{day}T22:00:0{task}Z") for task in range(4))
        (folder / f"day{day}.jsonl").write_bytes(b"".join(runs))
        file = folder / f"day{day}.jsonl"
        assert command("evaluate", file, "--as", f"support/day{day}", "--quiet", home=tmp_path).returncode == 0

    def newest_first() -> list[str]:
        return re.findall(r"^  support/(day\d) ", command("overview", home=tmp_path).stdout, re.MULTILINE)

    def last_seen() -> str:
        (group,) = json.loads(command("groups", "list", "--format", "json", home=tmp_path).stdout)
        return group["last_drop"]

    assert newest_first() == ["day3", "day2", "day1"]
    assert last_seen() == "support/day2"
    (folder / "day1.drop.yaml").write_text(json.dumps({"agent": "agent", "labels": {"note": "checked"}}))
    assert command("evaluate", "support/day1", "--quiet", home=tmp_path).returncode == 0
    assert newest_first() == ["day3", "day2", "day1"]
