"""Failure groups from drops to the check, as a person meets them."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.towns import runs

TASKS = 10


@pytest.mark.slow
def test_a_failure_appears_is_resolved_and_reopened(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "in" / "nights"
    folder.mkdir(parents=True)

    def evaluate(name: str, *, bad: int) -> None:
        (folder / f"{name}.jsonl").write_bytes(runs(2 * TASKS - bad, bad=bad))
        done = command("evaluate", tmp_path / "in", "--quiet", home=home)
        assert done.returncode == 0, done.stderr

    nothing = command("groups", "list", home=home)
    assert nothing.returncode == 2 and "no drop has been evaluated" in nothing.stderr
    (folder / "1.jsonl").write_bytes(runs(2 * TASKS))
    evaluate("2", bad=TASKS)
    listed = json.loads(command("groups", "list", "--format", "json", home=home).stdout)
    states = {row["group_id"]: row["state"] for row in listed}
    assert "new" in states.values(), listed
    worst = next(row for row in listed if row["state"] == "new")
    assert (worst["n_runs"], worst["first_drop"], worst["last_drop"]) == (TASKS, "nights/2", "nights/2")
    assert (worst["success_with"], worst["success_without"]) == (0, 1)

    made_before = (home / "lake" / "failure_groups.parquet").stat().st_ino
    shown = command("groups", "show", worst["group_id"], home=home).stdout
    assert (
        worst["name"] in shown and re.search(r"10 of 20 +nights/2", shown) and "0.0% with it, 100.0% without" in shown
    )
    examples = [line.split(":")[0] for line in shown.splitlines() if re.match(r"  nights/2, ", line)]
    assert len(examples) == len(set(examples)) == 3, "each of another run"
    assert command("groups", "show", worst["group_id"][:6], home=home).stdout == shown
    nothing = command("groups", "show", "", home=home)
    assert nothing.returncode == 2 and "no failure group ''" in nothing.stderr
    unknown = command("groups", "show", "none", home=home)
    assert unknown.returncode == 2 and worst["group_id"] in unknown.stderr

    done = command("groups", "resolve", worst["group_id"], "--note", "fixed", home=home)
    assert done.returncode == 0, done.stderr
    kept = yaml.safe_load((home / "groups.yaml").read_text())
    assert kept[worst["group_id"]]["note"] == "fixed" and kept[worst["group_id"]]["drops"] == ["nights/2"]
    with (home / "groups.yaml").open("a") as file:
        file.write("'00000000': {state: acknowledged}  # by hand\n")
    made = []
    for _ in range(2):
        calm = command("groups", "list", home=home)
        assert calm.returncode == 0 and "resolved" in calm.stdout and "reopened" not in calm.stdout
        assert "groups.yaml has states of groups that no run has: 00000000" in calm.stderr
        made.append((home / "lake" / "failure_groups.parquet").stat().st_ino)
    assert made[0] == made[1] != made_before, "made again where groups.yaml has changed, read where nothing has"

    evaluate("3", bad=3)
    again = command("groups", "list", home=home)
    assert again.returncode == 1
    assert f"{worst['group_id']}  reopened" in again.stdout
    assert "Seen again after they were resolved" in again.stderr
    known = command("groups", "acknowledge", worst["group_id"], home=home)
    assert known.returncode == 0
    assert yaml.safe_load((home / "groups.yaml").read_text())[worst["group_id"]]["state"] == "acknowledged"


@pytest.mark.slow
def test_groups_of_an_earlier_version_keep_their_ids_and_states(tmp_path: Path) -> None:
    """Runs in which two tools failed: their groups had exchanged their IDs whenever they were made."""
    home = tmp_path / "home"
    lines = (json.dumps(order(number, fails=number < 10) | {"success": None}) for number in range(20))
    (tmp_path / "a.jsonl").write_text("\n".join(lines).replace('{\\"price', '{\\"error\\": \\"no shop\\", \\"price'))
    assert command("evaluate", tmp_path / "a.jsonl", "--quiet", home=home).returncode == 0

    def groups() -> dict[str, tuple[str, str]]:
        listed = command("groups", "list", "--format", "json", home=home)
        return {row["group_id"]: (row["name"], row["state"]) for row in json.loads(listed.stdout)}

    made = groups()
    assert len(made) > 1
    for name in ("failure_groups", "grouped_findings"):
        file = home / "lake" / f"{name}.parquet"
        table = pq.read_table(file)
        table = table.set_column(0, "group_id", pa.array([group[::-1] for group in table["group_id"].to_pylist()]))
        pq.write_table(table.replace_schema_metadata({}), file)
    kept = {
        group[::-1]: (name, "acknowledged" if name.endswith("pay") else state) for group, (name, state) in made.items()
    }
    states = (f"'{group}': {{state: acknowledged}}\n" for group, (_, state) in kept.items() if state == "acknowledged")
    (home / "groups.yaml").write_text("".join(states))
    assert groups() == kept
    (home / "lake" / "findings" / "a.parquet").touch()
    assert groups() == kept


@pytest.mark.slow
def test_a_relapse_is_seen_although_the_failure_gathers_elsewhere_or_its_drop_is_written_anew(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "in" / "shop"
    folder.mkdir(parents=True)

    def evaluate(name: str, *, failing: int) -> None:
        lines = (json.dumps(order(number, fails=number < failing)) for number in range(10))
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
        done = command("evaluate", tmp_path / "in", "--quiet", home=home)
        assert done.returncode == 0, done.stderr

    def groups() -> tuple[int, dict[str, str]]:
        listed = command("groups", "list", "--format", "json", home=home)
        return listed.returncode, {row["group_id"]: row["state"] for row in json.loads(listed.stdout)}

    evaluate("1", failing=4)  # too few for a group of the tool's own
    _, states = groups()
    (failure,) = states
    assert command("groups", "resolve", failure, home=home).returncode == 0
    evaluate("2", failing=8)
    assert groups() == (1, {failure: "reopened"})
    assert "Ignored error: pay" in command("groups", "show", failure, home=home).stdout

    assert command("groups", "resolve", failure, home=home).returncode == 0
    evaluate("2", failing=0)
    assert groups() == (0, {failure: "resolved"})
    evaluate("2", failing=8)
    assert groups() == (1, {failure: "reopened"})


@pytest.mark.slow
def test_a_group_has_the_versions_of_the_runs_that_it_affects(tmp_path: Path) -> None:
    about = ({"agent": "desk", "agent_version": f"2.{number % 3}", "model": "m"} for number in range(12))
    made = ({**order(number, fails=number < 8 and number % 3 > 0), **next(about)} for number in range(12))
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, made)))
    unnamed = ({**order(number, fails=True), "model": "m"} for number in range(4))
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, unnamed)))
    for name in "de":
        assert command("evaluate", tmp_path / f"{name}.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    (row,) = json.loads(command("groups", "list", "--format", "json", home=tmp_path / "home").stdout)
    assert row["versions"] == ["desk 2.1", "desk 2.2"], "not those of other runs, and no model instead of an agent"


def order(number: int, *, fails: bool) -> dict[str, Any]:
    """A run of a shop's agent, whose last call may fail unnoticed."""
    paid = {"error": "no connection"} if fails else {"receipt": f"R{number}"}
    messages: list[Any] = [{"role": "user", "content": f"Order chair {number}."}]
    for tool, result in {"find": {"price": number + 5}, "reserve": {}, "pay": paid}.items():
        use = {"id": tool, "function": {"name": tool, "arguments": json.dumps({"chair": number})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [use]})
        messages.append({"role": "tool", "tool_call_id": tool, "content": json.dumps(result)})
    messages.append({"role": "assistant", "content": "Ordered." if fails else f"Ordered, receipt R{number}."})
    return {"task_id": f"chair {number}", "messages": messages, "success": not fails}


def test_a_drop_of_a_version_without_findings_is_to_be_evaluated_again(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(runs(1))
    home = tmp_path / "home"
    assert command("evaluate", tmp_path / "a.jsonl", "--quiet", home=home).returncode == 0
    (home / "lake" / "findings" / "a.parquet").unlink()
    refused = command("groups", "list", home=home)
    assert refused.returncode == 2 and "evaluate --all" in refused.stderr


@pytest.mark.slow
def test_a_drop_without_findings_is_named_beside_the_groups_of_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(runs(TASKS, bad=TASKS))
        assert command("evaluate", tmp_path / f"{name}.jsonl", "--quiet", home=home).returncode == 0
    (home / "lake" / "findings" / "b.parquet").unlink()
    for shown in (command("groups", "list", home=home), command("overview", home=home)):
        assert "1 drop without findings: b. Evaluate again: evaluation-assets evaluate --all" in shown.stderr
    (home / "lake" / "findings" / "a.parquet").unlink()
    assert "2 drops without findings: a, b." in command("overview", home=home).stderr


def test_a_damaged_table_is_named_whenever_its_runs_are_missing(tmp_path: Path) -> None:
    """Its runs were left out of the counts in silence."""
    home = tmp_path / "home"
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(runs(1, bad=2))
    assert command("evaluate", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--quiet", home=home).returncode == 0
    (home / "lake" / "findings" / "a.parquet").write_bytes(b"PAR1")
    for _ in range(2):
        listed = command("groups", "list", home=home)
        assert listed.returncode == 0 and "findings/a.parquet is damaged" in listed.stderr
