"""The commands, as processes: what they print, where, and their exit status."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import SAMPLE, call, command, command_of_its_own, record
from evaluation_assets_tests.forked_commands import start_command
from evaluation_assets_tests.recomputed.figures import differing

PROGRESS_LINE = re.compile(r"\S+ \(\d+ of \d+\), \d+ s\b")


def checksums(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_evaluate_prints_the_summary_and_where_the_report_is(tmp_path: Path) -> None:
    done = command("evaluate", SAMPLE, "--on-violation", "remove", "--output", tmp_path / "out", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    lines = {tuple(line.split()) for line in done.stdout.splitlines()}
    assert "  records kept       14 of 17 (82.4%)" in done.stdout
    assert "    1 unreadable" in done.stdout
    assert "    1 removed: more tool calls than --beta-threshold" in done.stdout
    assert "    1 removed: a call repeats the one before it" in done.stdout
    assert "    2 kept after a repair of their tags" in done.stdout
    report = tmp_path / "home" / "reports" / "assistants" / "report.html"
    assert ("report", str(report)) in lines
    assert report.exists()
    assert (tmp_path / "out" / "assistants" / "report.json").exists()
    assert (tmp_path / "home" / "drops" / "assistants.jsonl").read_bytes() == SAMPLE.read_bytes()
    assert ("success", "rate", "82.4%") not in lines  # the share of records that is kept is no rate of success
    assert all(PROGRESS_LINE.match(line) for line in done.stderr.splitlines())


@pytest.mark.slow
def test_the_same_bytes_come_out_whatever_the_hash_seed(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        done = command_of_its_own("evaluate", SAMPLE, "--quiet", home=tmp_path / seed, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
    for folder in ("lake", "reports"):
        first, second = checksums(tmp_path / "1" / folder), checksums(tmp_path / "2" / folder)
        assert len(first) > 10
        differing = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
        assert differing <= {"score_history/assistants.parquet"}  # the one table that says when


def test_a_failed_blocking_check_is_exit_status_1(tmp_path: Path) -> None:
    loop = call("same", "same result")
    (tmp_path / "loop.jsonl").write_bytes(record(text=loop + loop))
    done = command("evaluate", tmp_path / "loop.jsonl", "--on-violation", "remove", home=tmp_path / "home")
    assert done.returncode == 1
    found = "enough_scored: The drop has no clips: every record was removed or could not be read."
    rejected = "reject_rate: 1 of 1 records (100.0%) are not judged (maximum 20%): 1 duplicates."
    assert done.stdout.endswith(
        f"  check failed       evaluation_report: {found}\n  warning            rejected_records: {rejected}\n"
    )
    reports = tmp_path / "home" / "reports" / "loop"
    written = json.loads((reports / "report.json").read_text())
    assert [check["name"] for check in written["failed_checks"]] == ["enough_scored"], "what fails the run alone"
    for name in ("report.md", "report.html"):
        first = (reports / name).read_text().split("Look at first")[0].replace("\\", "").replace("<wbr>", "")
        assert "Blocking check failed: enough_scored" in first, "the report says why the run failed, on top"
    assert "| rules | – | – | – | – | – |" in (reports / "report.md").read_text(), (
        "a judge that was not asked costs nothing"
    )
    promoted = command("baseline", "promote", "loop", home=tmp_path / "home")
    assert promoted.returncode == 2 and "none of its records was read and kept" in promoted.stderr


def test_the_list_of_a_group_has_whole_sentences(tmp_path: Path) -> None:
    for group in ("panel", "suite", "groups", "sinks", "ledger", "baseline", "cascade", "sources"):
        said = command(group, "--help", home=tmp_path).stdout
        assert "..." not in said.partition("Commands:")[2], group


def test_what_does_not_occur_takes_no_line(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(record())
    done = command("evaluate", tmp_path / "good.jsonl", home=tmp_path / "home")
    assert [line[2:21].strip() for line in done.stdout.splitlines()[2:]] == [
        "outcome",
        "findings",
        "cost",
        "gate",
        "report",
    ]
    assert re.search(r"^  cost               agents unknown, \d+ tool calls; judging none$", done.stdout, re.MULTILINE)
    assert (
        "  gate               no baseline; to accept this drop as one: evaluation-assets baseline promote "
        in done.stdout
    )
    every = command("evaluate", tmp_path / "good.jsonl", "--verbose", home=tmp_path / "home").stdout
    assert "  records kept       1 of 1 (100.0%)\n" in every and " over 1 clip\n" in every
    assert not re.search(r"removed|unreadable|repair", every)


def test_an_evaluation_that_changes_nothing_says_so(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_bytes(record())
    first, second = (command("evaluate", file, home=tmp_path / "home") for _ in range(2))
    assert "unchanged" not in first.stdout
    assert second.stdout.splitlines()[1] == "d: unchanged since its last evaluation"
    file.write_bytes(record(text="<think>why</think>"))
    assert "unchanged" not in command("evaluate", file, home=tmp_path / "home").stdout


@pytest.mark.parametrize("is_known", [False, True])
def test_a_report_in_markdown_says_its_headline_once(tmp_path: Path, is_known: bool) -> None:
    (tmp_path / "d.jsonl").write_bytes(record(success=True) if is_known else record())
    assert command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").returncode == 0
    shown = (tmp_path / "home" / "reports" / "d" / "report.md").read_text()
    assert len(re.findall("process score", shown, re.IGNORECASE)) == 1
    assert len(re.findall("score of the embedded judge", shown, re.IGNORECASE)) == 1
    assert len(re.findall("success 1 of 1|recorded success", shown, re.IGNORECASE)) == is_known


def test_a_file_of_another_kind_is_not_told_to_change_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    done = command("evaluate", tmp_path / "paper.pdf", home=tmp_path / "home")
    assert done.returncode == 2
    assert "paper.pdf is not read: files of trajectories end in .jsonl, " in done.stderr
    assert "If it holds one of the formats" in done.stderr


def test_unusable_files_take_a_line_each_and_the_others_are_evaluated(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.jsonl").write_bytes(record())
    (folder / "bad.json").write_text('{"task_id": 1,\n "raw_response": [1, 2,}\n')
    (folder / "empty.jsonl").write_bytes(b"\n")
    (folder / "strange.jsonl").write_text('{"nothing": 1}\n')
    done = command("evaluate", folder, home=tmp_path / "home")
    assert done.returncode == 2
    assert (tmp_path / "home" / "reports" / "good" / "report.html").exists()
    lines = [line for line in done.stderr.splitlines() if not PROGRESS_LINE.match(line)]
    assert [line.split(". ")[0] for line in lines] == [
        "bad: bad.json is not valid JSON: line 2, column 24: Expecting value",
        "empty: empty.jsonl is empty",
        "strange: strange.jsonl is in no supported format (fields of the first record: 'nothing')",
        "",
        "3 of 4 drops could not be evaluated: bad, empty, strange",
    ]
    assert "evaluation-assets formats" in lines[2]
    assert max(map(len, lines)) < 300


def test_drops_that_could_not_be_evaluated_are_named_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, content in {"a": b'{"what": 1}\n', "b": record("b")}.items():
        (tmp_path / "in" / f"{name}.jsonl").write_bytes(content)
    done = command("evaluate", tmp_path / "in", "--quiet", home=tmp_path / "home")
    assert done.returncode == 2
    assert done.stderr.endswith("\n1 of 2 drops could not be evaluated: a\n")
    alone = command("evaluate", "b", "--quiet", home=tmp_path / "home")
    assert alone.returncode == 0 and "could not" not in alone.stderr


def test_a_file_that_cannot_be_read_at_all_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_bytes(record())
    assert command("evaluate", file, home=tmp_path / "home").returncode == 0
    file.write_bytes(b"")
    done = command("evaluate", file, "--replace", home=tmp_path / "home")
    assert (done.returncode, done.stderr) == (
        2,
        "evaluation-assets: d.jsonl is empty. Export it again, or remove it.\n",
    )
    assert (tmp_path / "home" / "drops" / "d.jsonl").read_bytes() == record(), "the one before it is"


@pytest.mark.parametrize("in_place", [True, False])
def test_a_drop_that_is_changed_while_it_is_read_is_evaluated_in_its_new_state_alone(
    tmp_path: Path, in_place: bool
) -> None:
    home = Installation.at(str(tmp_path))
    drop = tmp_path / "drops" / "d.jsonl"
    drop.parent.mkdir()
    drop.write_bytes(b"".join(record(f"old{number}") for number in range(8_000)))
    errors = tmp_path / "errors"
    errors.touch()
    reading = start_command(
        ["evaluate", str(drop), "--home", str(tmp_path)], os.environ, (os.devnull, os.devnull, str(errors))
    )
    while not list(tmp_path.glob("lake/raw_trajectories/.d.parquet.*")):
        assert reading.poll() is None
        time.sleep(0.01)
    new = drop if in_place else tmp_path / "new.jsonl"
    new.write_bytes(b"".join(record(f"new{number}") for number in range(3)))
    new.replace(drop)
    assert reading.wait(300) == 2
    assert "d: it was changed while it was read; evaluate it again once it is complete" in errors.read_text()
    assert not home.table("d", "raw_trajectories").exists
    assert not list((tmp_path / "lake" / "raw_trajectories").iterdir()), "no half-written table"
    assert command("evaluate", drop, home=tmp_path).returncode == 0
    assert [row["task_id"] for row in home.table("d", "raw_trajectories").rows()] == ["new0", "new1", "new2"]


@pytest.mark.parametrize(
    "task_id", ["任" * 70, "任" * 300, "x" * 500, "é" * 100], ids=["70", "300", "ascii", "accents"]
)
def test_a_long_task_id_has_a_report(tmp_path: Path, task_id: str) -> None:
    (tmp_path / "d.jsonl").write_bytes(record(task_id) + record(f"{task_id}2"))
    done = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    reports = tmp_path / "home" / "reports" / "d"
    assert (reports / "report.html").exists()
    files = list((reports / "model_evaluations").iterdir())
    assert {json.loads(file.read_text())["trajectory_id"] for file in files} == {task_id, f"{task_id}2"}


def test_a_file_whose_name_is_too_long_for_its_tables_says_so(tmp_path: Path) -> None:
    (tmp_path / f"{'线' * 80}.jsonl").write_bytes(record())
    done = command("evaluate", tmp_path / f"{'线' * 80}.jsonl", home=tmp_path / "home")
    assert done.returncode == 2
    assert "at most 211 bytes; rename the file" in done.stderr
    (tmp_path / f"{'线' * 70}.jsonl").write_bytes(record())
    done = command("evaluate", tmp_path / f"{'线' * 70}.jsonl", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr


def test_a_folder_with_data_below_hidden_folders_alone_names_them(tmp_path: Path) -> None:
    for folder in ("ana/.claude/projects", "bert/.codex/sessions"):
        (tmp_path / "team" / folder).mkdir(parents=True)
        (tmp_path / "team" / folder / "s.jsonl").write_bytes(record())
    for more in ([], ["--one-drop"]):
        done = command("evaluate", tmp_path / "team", *more, home=tmp_path / "home")
        assert done.returncode == 2
        assert "2 files below hidden folders skipped: ana/.claude, bert/.codex. Name these folders" in done.stderr


def test_a_field_of_a_sidecar_that_is_nearly_a_known_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(record())
    (tmp_path / "d.drop.yaml").write_text("agnet: x\nowner: ana\n")
    done = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home")
    assert done.returncode == 0
    assert "d: its sidecar has the unknown field 'agnet'; did you mean 'agent'?" in done.stderr
    assert "owner" not in done.stderr


def test_another_file_is_evaluated_beside_a_hostile_sidecar(tmp_path: Path) -> None:
    home, inbox = tmp_path / "home", tmp_path / "in"
    (home / "drops" / "folder").mkdir(parents=True)
    inbox.mkdir()
    for folder in (home / "drops", inbox):
        (folder / "bad.jsonl").write_bytes(record())
        (folder / "bad.drop.yaml").write_bytes(b"labels: {day: 2024-99-99, n: " + b"9" * 5000 + b"}")
    (home / "drops" / "folder" / "part.jsonl").write_bytes(record())
    (home / "drops" / "folder" / "_drop.yaml").write_bytes(b"labels: " + b"[" * 30_000)
    (inbox / "good.jsonl").write_bytes(record())
    done = command("evaluate", inbox / "good.jsonl", home=home)
    assert done.returncode == 0, done.stderr
    bad = command("evaluate", inbox / "bad.jsonl", home=home)
    assert bad.returncode == 2
    assert "bad.drop.yaml" in bad.stderr and "Traceback" not in bad.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["evaluate", "missing.jsonl"], "Path 'missing.jsonl' does not exist; no drop 'missing.jsonl' in "),
        (["evaluate", "."], "holds no file that is read"),
        (["evaluate", SAMPLE, "--provider", "nobody"], "choose one of: rules"),
        (["evaluate", SAMPLE, "--select", "no_such_asset"], "no_such_asset"),
        (["evaluate", SAMPLE, "--select", 'key:"no_such_asset"'], "matches no asset of an evaluation"),
        (["evaluate", SAMPLE, "--select", "two words"], "two words"),
        (["evaluate", SAMPLE, "--beta-threshold", "-1"], "not in the range"),
    ],
)
def test_usage_errors_name_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    done = command(*arguments, home=tmp_path / "home")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bad_panel_file_is_named_with_its_fault(tmp_path: Path) -> None:
    panel = tmp_path / "panel.yaml"
    panel.write_text("judges: [{name: Big Judge, provider: rules}]")
    done = command("evaluate", SAMPLE, "--panel", panel, home=tmp_path / "home")
    assert done.returncode == 2
    assert "panel.yaml" in done.stderr
    assert "lower-case letters" in done.stderr


def test_a_selection_materialises_only_that(tmp_path: Path) -> None:
    done = command("evaluate", SAMPLE, "--select", "+clips", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Installation.at(str(tmp_path)).table("assistants", "clips").count == 74
    assert not (tmp_path / "lake" / "clip_verdicts").exists()


def test_a_selection_and_preprocessing_alone_are_not_asked_together(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(record())
    done = command("evaluate", tmp_path / "a.jsonl", "--select", "+clips", "--preprocess-only", home=tmp_path / "home")
    assert done.returncode == 2 and "--select and --preprocess-only cannot be combined" in done.stderr
    assert not (tmp_path / "home" / "drops").exists()


def test_a_selection_without_its_upstream_says_what_to_add(tmp_path: Path) -> None:
    done = command("evaluate", SAMPLE, "--select", "clips", home=tmp_path)
    assert done.returncode == 2
    assert "clips needs preprocessed_trajectories, which this drop does not have." in done.stderr
    assert "--select '+clips'" in done.stderr
    assert not (tmp_path / "lake" / "clips").exists()
    assert command("evaluate", SAMPLE, "--select", "+clips", home=tmp_path).returncode == 0
    assert command("evaluate", SAMPLE, "--select", "clips", home=tmp_path).returncode == 0


def test_a_judge_alone_on_a_drop_that_was_never_evaluated_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(record())
    done = command("evaluate", tmp_path / "d.jsonl", "--judge", "rules", home=tmp_path / "home")
    assert done.returncode == 2 and "--select" not in done.stderr
    assert "d: never evaluated, or changed since. Evaluate it with all judges first, without --judge" in done.stderr
    assert not list((tmp_path / "home" / "drops").glob("*")), "a drop that stayed would be evaluated by `--all`"


@pytest.mark.slow
def test_a_judge_alone_is_not_asked_about_a_drop_that_has_changed(tmp_path: Path) -> None:
    file, home = tmp_path / "d.jsonl", tmp_path / "home"
    file.write_bytes(record())
    assert command("evaluate", file, home=home).returncode == 0
    assert command("evaluate", file, "--judge", "rules", home=home).returncode == 0
    (home / "gate.yaml").write_text("headline:\n  by: overall\n")
    shutil.copy(file, home / "drops" / "new.jsonl")
    done = command("evaluate", "--all", home=home)
    assert done.returncode == 0
    why = "1 new or changed, 1 with a changed suite, panel, settings or version, or without results"
    assert f"2 drops of 2 to evaluate: {why}\n" in done.stderr
    file.write_bytes(record(task_id="other"))
    done = command("evaluate", file, "--judge", "rules", home=home)
    assert done.returncode == 2 and "d: never evaluated, or changed since" in done.stderr
    done = command("evaluate", "--all", "--judge", "rules", home=home)
    assert done.returncode == 2 and "d: never evaluated, or changed since" in done.stderr
    assert command("evaluate", file, home=home).returncode == 0
    assert command("evaluate", file, "--judge", "rules", home=home).returncode == 0


def test_all_drops_of_a_home_that_is_not_there_are_none_to_evaluate(tmp_path: Path) -> None:
    done = command("evaluate", "--all", home=tmp_path / "hoem")
    assert done.returncode == 2 and "there is no installation at" in done.stderr
    assert not (tmp_path / "hoem").exists()


def test_downstream_of_an_asset_is_what_an_evaluation_makes(tmp_path: Path) -> None:
    done = command("evaluate", SAMPLE, "--select", "+evaluation_report", home=tmp_path)
    assert done.returncode == 0, done.stderr
    report = tmp_path / "reports" / "assistants" / "report.json"
    report.unlink()
    done = command("evaluate", SAMPLE, "--select", "clips+", home=tmp_path)  # no baseline, nothing over all drops
    assert done.returncode == 0, done.stderr
    assert report.exists()


def test_an_evaluation_can_split_its_records_too(tmp_path: Path) -> None:
    done = command("evaluate", SAMPLE, "--split-size", "10", home=tmp_path)
    assert done.returncode == 0, done.stderr
    reports = tmp_path / "reports" / "assistants"
    split = sorted((reports / "preassistants").iterdir())
    assert [len(path.read_text().splitlines()) for path in split] == [10, 6]
    assert (reports / "report.json").exists()


def test_preprocess_only_splits_where_asked(tmp_path: Path) -> None:
    done = command("evaluate", SAMPLE, "--preprocess-only", "--split-size", "10", home=tmp_path)
    assert done.returncode == 0, done.stderr
    split = tmp_path / "reports" / "assistants" / "preassistants"
    assert [len(path.read_text().splitlines()) for path in sorted(split.iterdir())] == [10, 6]
    assert not (tmp_path / "lake" / "clips").exists()


def test_directories_keep_their_paths_as_drop_keys(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "nightly"
    folder.mkdir(parents=True)
    (folder / "v1.jsonl").write_bytes(record("1"))
    (folder / "v2.jsonl").write_bytes(record("2"))
    done = command("evaluate", tmp_path / "in", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    reports = tmp_path / "home" / "reports"
    assert (reports / "nightly" / "v1" / "report.html").exists()
    assert (reports / "nightly" / "v2" / "report.html").exists()


def test_a_directory_can_be_one_drop(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(record("1"))
    (folder / "b.jsonl").write_bytes(record("2"))
    done = command("evaluate", folder, "--one-drop", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "home" / "reports" / "runs" / "report.html").exists()
    assert json.loads((tmp_path / "home" / "reports" / "runs" / "report.json").read_text())["records"]["kept"] == 2


def test_plan_writes_nothing(tmp_path: Path) -> None:
    done = command("plan", SAMPLE, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert "clips              74" in done.stdout
    assert "no model calls, no cost" in done.stdout
    assert not (tmp_path / "home").exists()


def test_formats_says_how_each_is_recognised(tmp_path: Path) -> None:
    done = command("formats", home=tmp_path)
    assert done.returncode == 0
    assert "detected by: records with a text in raw_response" in done.stdout


def test_a_name_with_line_breaks_forges_no_line_of_ours(tmp_path: Path) -> None:
    forged = "  success 99 of 99 (100.0%)"
    call = {"id": "1", "type": "function", "function": {"name": f"x\n{forged}\r\x1b[2K", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "r"},
        {"role": "assistant", "content": "a"},
    ]
    (tmp_path / "d.jsonl").write_text(json.dumps({"task_id": f"t\n{forged}", "messages": messages}) + "\n")
    for name in ("plan", "import", "evaluate"):
        done = command(name, tmp_path / "d.jsonl", home=tmp_path / "home")
        assert done.returncode == 0, done.stderr
        assert "success 99 of 99" in done.stdout or name == "evaluate"
        assert forged not in done.stdout.splitlines()
        assert "\x1b" not in done.stdout and "\r" not in done.stdout


def test_a_judge_whose_name_dagster_refuses_is_refused_in_words(tmp_path: Path) -> None:
    panel = tmp_path / "panel.yaml"
    panel.write_text("judges: [{name: meta, provider: rules}]")
    done = command("evaluate", SAMPLE, "--panel", panel, home=tmp_path / "home")
    assert done.returncode == 2
    assert "reserved by Dagster" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["evaluate", "plan"])
def test_unusable_settings_are_told_in_one_line(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "gate.yaml").write_text("headline: {by: luck}")
    done = command(name, SAMPLE, home=home)
    assert done.returncode == 2
    assert "headline.by" in done.stderr and "Traceback" not in done.stderr


def test_a_mistyped_command_is_told_which_one_may_be_meant() -> None:
    done = CliRunner().invoke(main, ["evaluat"])
    assert done.exit_code == 2 and "No such command 'evaluat'. Did you mean 'evaluate'?" in done.output


@pytest.mark.parametrize("name", main.lazy)
def test_the_short_help_of_a_command_is_its_own(name: str) -> None:
    with click.Context(main) as context:
        command = main.get_command(context, name)
    assert command is not None and command.name == name
    assert main.lazy[name][1].rstrip(".") in (command.help or "").replace("\n", " ")


def test_help_has_every_command_once_and_at_most_eight_in_a_section() -> None:
    assert max(map(len, main.sections.values())) <= 8
    with click.Context(main, info_name="evaluation-assets") as context:
        told = main.get_help(context)
    listed = re.findall(r"^  ([a-z]+) +[A-Z]", told, re.MULTILINE)
    assert sorted(listed) == sorted(main.lazy)


def test_help_of_evaluate_has_five_options_first_and_every_option_once() -> None:
    with click.Context(main) as context:
        command = main.get_command(context, "evaluate")
    assert command is not None
    with click.Context(command, info_name="evaluate") as context:
        told = command.get_help(context)
    listed = re.findall(r"^  (?:-\w, )?--([a-z-]+)", told, re.MULTILINE)
    assert listed[:5] == ["home", "suite", "budget", "output", "quiet"]
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    assert sorted(listed) == sorted([*(option.opts[-1].removeprefix("--") for option in options), "help"])


@pytest.mark.parametrize("arguments", ["--home x groups list", "groups --home x list", "--unknown evaluate"])
def test_an_option_before_a_command_is_refused_with_the_place_for_it(arguments: str) -> None:
    done = CliRunner().invoke(main, arguments.split())
    assert done.exit_code == 2
    assert "before a command. Options stand after the command." in done.output and "Did you mean" not in done.output


def test_help_imports_neither_dagster_nor_numeric_libraries() -> None:
    heavy = "{'dagster', 'numpy', 'pyarrow', 'scipy', 'sqlalchemy', 'openai', 'pydantic'}"
    code = f"from evaluation_assets.cli.main import main; import sys; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("name", ["plan", "import"])
def test_a_dry_run_with_the_embedded_judge_loads_no_dagster_database_or_model_client(tmp_path: Path, name: str) -> None:
    code = (
        "import runpy, sys, atexit\n"
        "atexit.register(lambda: print(sorted({'dagster', 'sqlalchemy', 'openai', 'anthropic', 'httpx2', 'scipy'}"
        " & sys.modules.keys())))\n"
        f"sys.argv = ['evaluation-assets', {name!r}, {str(SAMPLE)!r}]\n"
        "runpy.run_module('evaluation_assets.cli', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_recorded_trials_give_the_chance_that_all_runs_of_a_task_succeed(tmp_path: Path) -> None:
    outcomes = {"a": [True, True], "b": [True, False], "c": [False, False]}
    records = [record(task, success=outcome) for task, runs in outcomes.items() for outcome in runs]
    (tmp_path / "d.jsonl").write_bytes(b"".join(records))
    done = command("evaluate", tmp_path / "d.jsonl", "--verbose", home=tmp_path / "home")
    assert "  pass^2             0.333 over 3 tasks\n" in done.stdout
    shown = (tmp_path / "home" / "reports" / "d" / "report.md").read_text()
    assert "k = 1: 0.500 and 0.500 over 3 tasks; k = 2: 0.667 and 0.333 over 3 tasks" in shown
    assert differing(Installation.at(str(tmp_path / "home")), "d") == {}
