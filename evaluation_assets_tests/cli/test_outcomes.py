"""What `evaluate` prints of a drop when it has ended."""

import json
import os
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.judging.selection import Selections
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored, Stream, write
from evaluation_assets.core.lake.tables import CLIP_SCORES, CLIPS
from evaluation_assets.core.report.agent_use import AgentUse
from evaluation_assets.core.report.scores.clip_summaries import clip_summaries
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.pipeline.test_reading import good, lines
from evaluation_assets_tests.model_judging import judge
from evaluation_assets_tests.model_server import ModelServer


def test_the_terminal_says_which_runs_were_drawn(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(lines(*(good(f"run{number}") for number in range(12))))
    (tmp_path / "d.drop.yaml").write_text("share: 0.5\n")
    planned = command("plan", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    printed = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    assert "of 12 runs evaluated: " in printed and "outside of the 50.0% drawn by their IDs" in printed
    assert next(line for line in printed.splitlines() if "drawn" in line) in planned


@pytest.mark.slow
def test_a_file_of_a_folder_that_is_a_suite_is_told_how_to_get_into_it(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "runs" / "stock"
    folder.mkdir(parents=True)
    for name in ("mon", "tue"):
        (folder / f"{name}.jsonl").write_bytes(lines(good(name)))
    hint = "evaluation-assets: mon: no suite; --as stock/mon puts it into suite stock"
    assert "no suite" not in command("evaluate", folder / "mon.jsonl", home=tmp_path / "other").stderr
    assert "no suite" not in command("evaluate", tmp_path / "runs", home=home).stderr
    assert hint in command("evaluate", folder / "mon.jsonl", home=home).stderr.splitlines()
    assert "no suite" not in command("evaluate", folder / "mon.jsonl", "--as", "stock/mon", home=home).stderr
    (folder / "tue.drop.yaml").write_text("suite: other\n")
    assert "no suite" not in command("evaluate", folder / "tue.jsonl", home=home).stderr
    (tmp_path / "other" / "suites" / "stock.yaml").write_text("cases: []\n")
    (folder / "mon.jsonl").write_bytes(lines(good("changed")))
    assert hint in command("evaluate", folder / "mon.jsonl", "--replace", home=tmp_path / "other").stderr.splitlines()


def test_the_terminal_says_what_own_criteria_come_to(tmp_path: Path) -> None:
    names = [f"check_{number}" for number in range(10)]
    functions = [
        f"@judge(level='trajectory', criterion='{name}')\ndef {name}(run):\n    return True\n" for name in names
    ]
    (tmp_path / "mine.py").write_text("from evaluation_assets.judging import judge\n\n" + "\n".join(functions))
    judges = [{"name": name, "provider": "python", "function": f"mine:{name}"} for name in names]
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": judges}))
    (tmp_path / "d.jsonl").write_bytes(lines(good("run")))
    asked = ("evaluate", tmp_path / "d.jsonl", "--panel", tmp_path / "panel.yaml")
    printed = command(*asked, home=tmp_path / "home").stdout
    assert "  own criterion      check_0 1.000 (trajectory, 1 of 1 scored)\n" in printed
    page = (tmp_path / "home" / "reports" / "d" / "report.html").read_text()
    assert "; judging none\n" in printed and "no model calls" in page and page.count(">unknown") == 1
    assert printed.count("own criterion ") == 8 and "  own criteria       2 more; --verbose prints them\n" in printed
    again = command(*asked, "--verbose", home=tmp_path / "home").stdout
    assert again.count("own criterion ") == 10
    assert again.splitlines()[1] == "d: evaluated again, with the same report", "its functions may see other things"


def test_the_terminal_says_that_a_file_has_several_versions(tmp_path: Path) -> None:
    outcomes = {"1": (True, None), "2": (True, False), "3": (None, None)}
    runs = [
        good(f"{version}-{trial}") | {"agent": "mine", "agent_version": version, "success": success}
        for version, own in outcomes.items()
        for trial, success in enumerate(own)
    ]
    (tmp_path / "d.jsonl").write_bytes(lines(*runs))
    printed = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    versions = "1 (success 1 of 1), 2 (success 1 of 2), 3"
    said = f"{versions}; to compare two: "
    assert f"  versions           {said}" in printed and " compare d@1 d@2 --home " in printed
    assert f"Versions: {versions}" in (tmp_path / "home" / "reports" / "d" / "report.md").read_text()
    (tmp_path / "d.drop.yaml").write_text("agent_version: both\n")
    assert said not in command("evaluate", tmp_path / "d.jsonl", "--replace", home=tmp_path / "home").stdout


def test_the_terminal_says_each_thing_once(tmp_path: Path) -> None:
    result = {"role": "tool", "tool_call_id": "none", "content": "[]"}
    asked = {"role": "user", "content": "Find lamps"}
    run = {"task_id": "t", "messages": [asked, result, {"role": "assistant", "content": "None."}], "success": True}
    (tmp_path / "d.jsonl").write_bytes(lines(run))
    for again in (False, True):
        printed = command("evaluate", tmp_path / "d.jsonl", "--verbose", home=tmp_path / "home").stdout
        assert ("unchanged" in printed) == again
        assert printed.count("more results without a call (1) than calls (0)") == 1
        assert printed.count("success 1 of 1") == 1


def test_a_drop_that_cannot_be_read_is_named_beside_the_reason_alone(tmp_path: Path) -> None:
    (tmp_path / "home" / "drops").mkdir(parents=True)
    (tmp_path / "home" / "drops" / "d.jsonl").write_text("no JSON\n")
    for _ in range(2):
        done = command("evaluate", "d", home=tmp_path / "home")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("d: d.jsonl is not valid JSON: line 1, column 1: ")


def test_reports_list_the_tools_that_failed_most_first(tmp_path: Path) -> None:
    called = [("alpha", "found"), ("alpha", "found"), ("beta", "Error: no such file"), ("gamma", "found")]
    messages = [{"role": "user", "content": "Find lamps"}]
    for number, (name, result) in enumerate(called):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": f'{{"q": {number}}}'}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    run = {"task_id": "t", "messages": [*messages, {"role": "assistant", "content": "Lamps."}]}
    (tmp_path / "d.jsonl").write_bytes(lines(run))
    assert command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").returncode == 0
    report = json.loads((tmp_path / "home" / "reports" / "d" / "report.json").read_text())
    assert [tool["tool_type"] for tool in report["tools"]] == ["beta", "alpha", "final", "gamma"]
    printed = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    assert re.search(r"^  findings           .*; failed calls: beta 1 of 1$", printed, re.MULTILINE), printed


def test_a_tool_that_failed_in_all_of_several_runs_is_told_first(tmp_path: Path) -> None:
    def run(number: int, **results: str) -> dict[str, object]:
        messages = [{"role": "user", "content": f"Order {number}"}]
        for name, result in results.items():
            call = {"id": name, "type": "function", "function": {"name": name, "arguments": f'{{"id": {number}}}'}}
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": name, "content": result},
            ]
        return {"task_id": f"t{number}", "messages": [*messages, {"role": "assistant", "content": "Sorry."}]}

    down, up = "Error: 503 Service Unavailable", "done"
    rare = [run(9, search=down), run(8, search=down)]
    runs = [run(number, refund=down, pay=down if number else up) for number in range(3)]
    (tmp_path / "d.jsonl").write_bytes(lines(*runs, *rare))
    said = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    assert "  findings           every call of refund failed; in 5 of 5 runs" in said, said
    report = (tmp_path / "home" / "reports" / "d" / "report.md").read_text()
    assert report.index("Every call of refund failed") < report.index("## ")


def test_the_terminal_names_the_tools_with_the_most_failed_calls(tmp_path: Path) -> None:
    rows = [("pay", "error")] * 8 + [("pay", "ok")] * 2 + [("find", "error"), ("ship", "error"), ("ship", "none")]
    clip: Row = dict.fromkeys(CLIPS.schema.names) | {"trajectory_id": "t", "tool_type": "other"}
    made = [
        clip | {"tool_name": tool, "call_status": status, "is_final": tool is None, "clip_index": index}
        for index, (tool, status) in enumerate([*rows, (None, "none")])
    ]

    def told(*of: Row) -> str:
        stored = Stored(CLIPS, UPath(tmp_path / f"{len(of)}.parquet"))
        write(stored.path, Stream.of(CLIPS, of))
        scores = Stored(CLIP_SCORES, UPath(tmp_path / "none.parquet"))
        tables: Any = SimpleNamespace(clips=stored, clip_scores=scores, clip_verdicts={}, selections=Selections({}))
        return clip_summaries(tables, {})[3].failed_calls

    assert told(*made) == "pay 8 of 10, find 1 of 1, 1 other tool"
    assert told(made[8]) == told() == ""


@pytest.mark.slow
def test_of_many_drops_only_what_went_wrong_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(11):
        (tmp_path / "in" / f"d{number}.jsonl").write_bytes(lines(good("a"), good("b")))
    for again in (False, True):
        done = command("evaluate", tmp_path / "in", home=tmp_path / "home")
        assert done.stdout.count("\n  outcome ") == done.stdout.count("\n  findings ") == 11
        assert done.stdout.count("unchanged") == 11 * again
        assert not any(f"\n  {label} " in done.stdout for label in ("cost", "gate", "report"))
    assert command("evaluate", tmp_path / "in", "--verbose", home=tmp_path / "home").stdout.count("\n  report ") == 11


@pytest.mark.slow
def test_a_folder_of_files_with_one_run_each_is_told_of_one_drop(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3):
        (tmp_path / "in" / f"{number}.jsonl").write_bytes(lines(good(f"run{number}")))
    said = "the 3 files seem to have one run each; --one-drop makes one drop of all files of a folder"
    assert said in " ".join(command("plan", tmp_path / "in", home=tmp_path / "other").stderr.split())
    asked = ("evaluate", tmp_path / "in")
    assert said in command(*asked, home=tmp_path / "home").stderr.splitlines()[0], "before any is evaluated"
    for number in range(2):
        (tmp_path / "runs" / str(number)).mkdir(parents=True)
        (tmp_path / "runs" / str(number) / "run.jsonl").write_bytes(lines(good(f"run{number}")))
        (tmp_path / "runs" / str(number) / "result.json").write_text('{"score": 1}')
    said = "the 4 files seem to have one run each, or none; --one-drop makes one drop of all files of a folder"
    assert said in command("evaluate", tmp_path / "runs", home=tmp_path / "other").stderr.splitlines()[0]
    (tmp_path / "runs" / "0" / "log").mkdir()
    for number in range(5):  # these come before the first run
        (tmp_path / "runs" / "0" / "log" / f"{number}.json").write_text('{"score": 1}')
    assert "the 9 files seem to" in command("evaluate", tmp_path / "runs", home=tmp_path / "third").stderr
    for each in ((*asked, "--quiet"), (*asked, "--one-drop"), ("evaluate", *(tmp_path / "in").iterdir())):
        assert "--one-drop" not in command(*each, home=tmp_path / "home").stderr


@pytest.mark.slow
def test_the_terminal_says_what_judges_that_are_not_asked_about_clips_come_to(
    tmp_path: Path, server: ModelServer
) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, preset="quick")]}))
    (tmp_path / "d.jsonl").write_bytes(lines(good("one"), good("two")))
    printed = command(
        "evaluate", tmp_path / "d.jsonl", "--panel", tmp_path / "panel.yaml", "--yes", home=tmp_path / "home"
    ).stdout
    assert re.search(r"^  trajectory scores  (\w+ (-|[01]\.\d{3})(, |$))+$", printed, re.MULTILINE), printed
    panel = [{"name": "rules", "provider": "rules"}, judge(server, preset="quick")]
    (tmp_path / "both.yaml").write_text(json.dumps({"judges": panel}))
    both = command("evaluate", tmp_path / "d.jsonl", "--panel", tmp_path / "both.yaml", "--yes", home=tmp_path / "home")
    assert "\n  trajectory scores  " in both.stdout and "\n  score  " not in both.stdout, both.stdout
    assert "\n  category scores" not in both.stdout, "the embedded judge alone was asked"
    reports = tmp_path / "home" / "reports" / "d"
    report = (reports / "report.md").read_text()
    assert report.count("\nScores of whole runs, means of the judges: ") == 1
    assert "Scores of whole runs</a>, means of the judges: " in (reports / "report.html").read_text()
    spent = command(
        "evaluate", tmp_path / "d.jsonl", "--panel", tmp_path / "panel.yaml", "--budget", "0", home=tmp_path / "other"
    ).stdout
    assert "; judging none; 4 verdicts not run\n" in spent
    assert re.search(r"^\| one \| .* \| \$0\.\d{4} \|", report, re.MULTILINE), "what was paid is not rounded away"


@pytest.mark.slow
def test_the_terminal_and_the_reports_say_what_the_agents_cost(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Find lamps"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "two"},
        {"role": "assistant", "content": "Two."},
    ]
    usage = {"prompt_tokens": 1000, "completion_tokens": 300}
    runs = [{"task_id": f"t{number}", "messages": messages, "usage": usage, "cost": 0.013} for number in range(12)]

    def printed(name: str, *of: dict[str, object]) -> str:
        (tmp_path / f"{name}.jsonl").write_bytes(lines(*of))
        return command("evaluate", tmp_path / f"{name}.jsonl", "--quiet", home=tmp_path / "home").stdout

    said = "$0.1560 (12 of 12 runs), 12 tool calls, 15,600 tokens"
    whole = printed("whole", *runs)
    assert f"  cost               agents {said}; judging none\n" in whole
    facts = [line.split()[0] for line in whole.splitlines() if re.match(r"  \w", line)]
    assert facts == ["outcome", "findings", "cost", "gate", "report"]
    folder = tmp_path / "home" / "reports" / "whole"
    assert f"\nCost of agents: {said}.\n" in (folder / "report.md").read_text()
    page = (folder / "report.html").read_text()
    assert page.index("Cost of agents") < page.index("Cost of judging")
    assert ">$0.1560 (12 of 12 runs)</a><small>12 tool calls, 15,600 tokens</small>" in re.sub(r"\s*\n\s*", "", page)
    without = [{"task_id": run["task_id"], "messages": messages} for run in runs]
    assert "  cost               agents unknown, 12 tool calls; judging none\n" in printed("without", *without)
    partly = "agents $0.0130 (1 of 12 runs), 12 tool calls, 1,300 tokens (1 of 12 runs); judging none\n"
    assert partly in printed("partly", runs[0], *without[1:])
    listed = AgentUse().with_run(1, Usage(cost_usd=0.02, is_list_price=True)).with_run(2, None)
    assert listed.text == "$0.0200 at list prices (1 of 2 runs), 3 tool calls"
    half = AgentUse().with_run(1, Usage(input_tokens=10)).with_run(1, Usage(input_tokens=10, output_tokens=2))
    assert half.use == "2 tool calls, 12 tokens (1 of 2 runs)"


def test_the_log_says_the_result_of_an_evaluation_and_where_its_report_is(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(lines(good("run") | {"success": True}))
    done = command("evaluate", tmp_path / "d.jsonl", "--verbose", home=tmp_path / "home")
    assert "DEBUG" not in done.stderr, "figures, and no log"
    with instance_of(Installation.at(str(tmp_path / "home"))) as instance:
        (run,) = instance.get_runs()
        logged = "\n".join(entry.user_message for entry in instance.all_logs(run.run_id))
    report = tmp_path / "home" / "reports" / "d" / "report.html"
    assert re.search(rf"d: success 1 of 1 \(.*?\); report: {report}", " ".join(logged.split()))


def test_commands_are_named_so_that_they_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(lines(good("run")))
    elsewhere = os.pathsep.join(["/usr/bin", "/bin"])
    printed = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home", PATH=elsewhere).stdout
    named = re.search(r"to accept this drop as one: (.*)\n", printed)
    assert named is not None
    program, *words = shlex.split(named[1])
    assert Path(program).absolute() == Path(sys.executable).absolute().with_name("evaluation-assets")
    assert Path(program).exists()
    assert words == ["baseline", "promote", "d", "--home", str(tmp_path / "home")]


def test_a_budget_that_is_spent_early_is_told_once_of_each_judge(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, price={"input": 1.0, "output": 5.0})]}))
    (tmp_path / "d.jsonl").write_bytes(lines(*(good(f"run{number}") for number in range(4))))
    done = command("evaluate", tmp_path / "d.jsonl", "--budget", "0.001", home=tmp_path)
    assert done.returncode == 3, done.stderr
    assert len(re.findall("Raise the budget", done.stdout)) == 1 and "coverage" not in done.stdout
    assert "check failed       evaluation_report: enough_scored" in done.stdout


@pytest.mark.slow
def test_an_evaluation_that_could_not_ask_says_which_verdicts_it_lost_and_how_they_come_back(
    tmp_path: Path, server: ModelServer
) -> None:
    (tmp_path / "d.jsonl").write_bytes(lines(good("one"), good("two")))

    def evaluated(*options: str, **more: Any) -> list[str]:
        (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, **more)]}))
        asked = ("evaluate", tmp_path / "d.jsonl", "--panel", tmp_path / "panel.yaml", "--yes", *options)
        return command(*asked, home=tmp_path / "home").stdout.splitlines()

    report = tmp_path / "home" / "reports" / "d" / "report.json"
    evaluated()
    whole = report.read_bytes()
    spent = evaluated("--budget", "0", parameters={"temperature": 0.5})
    back = "To get them back, evaluate with what was there before: paid replies are kept."
    lost = next(line for line in spent if "lost" in line)
    assert re.fullmatch(
        rf"  judge one          lost \d+ verdicts of the last report: its settings have changed. {back}", lost
    )
    assert not [line for line in evaluated(parameters={"temperature": 0.5}) if "lost" in line], "nothing was lost since"
    evaluated("--budget", "0")
    assert json.loads(report.read_bytes())["judges"] == json.loads(whole)["judges"]
    other = evaluated("--budget", "0", name="other", model="other")
    assert f"it is not in the panel any more. {back}" in next(line for line in other if "lost" in line)
