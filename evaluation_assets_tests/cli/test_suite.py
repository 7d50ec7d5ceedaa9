"""The command `suite run`, from files to the report."""

import base64
import os
import sys
from pathlib import Path
from urllib.parse import quote

import orjson
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner

from evaluation_assets.cli.main import main as command_line
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.report.agents.agent_comparison import AgentComparison
from evaluation_assets.core.suites.agents.journal import Journal
from evaluation_assets.core.suites.agents.simulated_user import END
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.suites.agents.running import DONE, errors, results, steps
from evaluation_assets_tests.installed_agents import answering, installed
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.started_mcp_server import COMMAND, ROOT
from evaluation_assets_tests.towns import run_of


def commanded(home: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line, ["suite", "run", *arguments, "--home", str(home), "--quiet"])
    return done.exit_code, done.output


@pytest.mark.parametrize("cases", [[], [{"id": "x"}]], ids=["none", "skipped"])
def test_a_suite_without_a_complete_case_is_refused(cases: list[dict[str, str]], tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_bytes(orjson.dumps({"cases": cases}))
    checked = command("suite", "check", file, home=tmp_path)
    assert checked.returncode == 2, checked.stdout
    assert checked.stdout.startswith("shop: 0 cases"), "as its drops name it"
    assert f"skipped            {len(cases)}" in checked.stdout
    said = "complete case; complete those above, or remove `review` where" if cases else "case; write some"
    assert f"shop.yaml has no {said}" in checked.stderr


def test_cases_that_allow_no_call_are_counted_however_they_say_so(tmp_path: Path) -> None:
    says = [{"should_not_call_tools": True}, {"match": "exact"}, {"match": "subset"}, {}, {"match": "superset"}]
    cases = [{"id": f"c{number}", "message": f"Question {number}", **each} for number, each in enumerate(says)]
    file = tmp_path / "shop.yaml"
    file.write_bytes(orjson.dumps({"cases": cases}))
    assert "  no call allowed    3\n" in command("suite", "check", file, home=tmp_path).stdout


def test_a_weakness_of_many_cases_is_told_once(tmp_path: Path) -> None:
    orders = {f"c{number:02}": f"O-{number}" for number in range(30)}
    cases = [{"id": case, "message": f"Where is {order}?", "keywords": [order]} for case, order in orders.items()]
    file = tmp_path / "shop.yaml"
    file.write_bytes(orjson.dumps({"cases": cases}))
    said = command("suite", "check", file, home=tmp_path).stdout.splitlines()
    alike = [line.strip() for line in said if "keywords_in_task" in line]
    assert alike[0] == "keywords_in_task, c00: repeating the task gives all keywords: O-0"
    assert alike[2].startswith("keywords_in_task, 28 more: c02, c03, ") and alike[2].endswith(" and 18 more")
    assert len(alike) == 3


def test_agents_of_a_suite_are_put_side_by_side(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "bad1", "half0")
    refused = rule("refusal", contains="Task 1:", model="half0")
    server.script([refused, *answering("bad1", "half0")])
    _, said = commanded(Path(home.root.path), "sums")
    page = home.reports("sums") / "agents.html"
    assert f"side by side         {page}" in said

    def compared() -> AgentComparison:
        return AgentComparison.model_validate_json(page.with_suffix(".json").read_bytes())

    found = compared()
    assert [(each.agent, each.passed.count, each.right.count) for each in found.agents] == [
        ("half0", 2, 2),
        ("bad1", 0, 0),
    ]
    assert [row.case_id for row in found.cases] == ["case0", "case2", "case1"]
    assert found.cases[-1].outcomes["half0"].ended == {"refused": 1}
    (pair,) = found.pairs
    assert (pair.better, pair.worse, pair.cases, pair.p) == (2, 0, 3, pytest.approx(0.32))

    server.script(answering("half0"))
    again = str(Path(home.agents.path) / "half0.yaml")
    _, said = commanded(Path(home.root.path), "sums", "--agent", again, "--fresh", "--trials", "2")
    assert "side by side" in said
    renewed = compared()
    assert [(each.agent, each.passed.count, each.attempts) for each in renewed.agents] == [
        ("half0", 6, 6),
        ("bad1", 0, 3),
    ]
    assert [rate.pass_hat for rate in renewed.agents[0].trials] == [1.0, 1.0]
    assert renewed.agents[0].drop != found.agents[0].drop and renewed.agents[1].drop == found.agents[1].drop


def test_a_judge_of_the_panel_plays_the_users_of_a_suite(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "solver")
    judge = {"name": "haiku", "provider": "openai_compatible", "model": "u", "base_url": server.openai_url}
    judges = [{"name": "rules", "provider": "rules"}, {**judge, "api_key_env": "TEST_KEY"}]
    Path(home.panel_file.path).write_text(yaml.safe_dump({"judges": judges}))
    case = {"id": "flight", "message": "Cancel my flight.", "keywords": ["cancelled"], "user": {"goal": "Cancelled"}}
    talk = {"user_judge": "haiku", "cases": [case]}
    Path(home.suites.path, "flights.json").write_bytes(orjson.dumps(talk))
    said_by_user = [{"text": each} for each in (case["message"], "LX 12", END)]
    server.script(
        [
            rule("steps", model="u", contains="You play a person", steps=said_by_user),
            rule("steps", model="solver", steps=[{"text": "Which flight?"}, {"text": "It is cancelled."}]),
        ]
    )
    suite = Path(home.suites.path, "flights.json")
    assert (
        "users              1, played by haiku\n" in command("suite", "check", suite, home=Path(home.root.path)).stdout
    )
    status, said = commanded(Path(home.root.path), "flights", "--dry-run")
    assert status == 0 and "the simulated user: with each agent at most 10 model calls" in said
    status, said = commanded(Path(home.root.path), "flights")
    assert status == 0 and "passed             1 of 1 attempt" in said
    asked = [request.body["model"] for request in server.requests()]
    assert asked[:4] == ["solver", "u", "solver", "u"], "then it judges"
    Path(home.suites.path, "flights.json").write_bytes(orjson.dumps({**talk, "user_judge": "opus"}))
    status, said = commanded(Path(home.root.path), "flights")
    assert status == 2 and "user_judge: no judge 'opus' in the panel; choose one of: rules, haiku" in said
    checked = command("suite", "check", suite, home=Path(home.root.path)).stdout
    assert "users              1, so agents cannot be run on it: user_judge: no judge 'opus'" in checked


def test_a_pipe_in_a_folder_of_suites_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "suite.yaml")
    for place in (tmp_path, tmp_path / "suite.yaml"):
        done = command("suite", "check", place, home=tmp_path / "home")
        assert (done.returncode, "suite.yaml: it is not a regular file" in done.stderr) == (2, True), done.stderr


def test_a_misspelt_field_of_a_suite_is_told_with_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("cases:\n- {id: a, message: m, answr: {value: x}}\n")
    done = command("suite", "check", tmp_path / "s.yaml", home=tmp_path / "home")
    assert done.stderr == ("evaluation-assets: s.yaml:2: cases[0].answr: unknown field; did you mean 'answer'?\n")


def test_a_suite_without_a_case_is_refused(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0")
    empty = tmp_path / "empty.yaml"
    empty.write_text("cases: []\n")
    status, said = commanded(Path(home.root.path), str(empty))
    assert status == 2
    assert "the suite empty has no case that agents can be run on" in said


def test_budgets_that_limit_nothing_are_refused_before_any_call(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0")
    file = Path(home.agents.path) / "good0.yaml"
    settings = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({name: value for name, value in settings.items() if name != "price"}))
    judges = [{"name": "one", "provider": "openai_compatible", "base_url": server.openai_url, "model": "m"}]
    (tmp_path / "panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    given = "sums", "--panel", str(tmp_path / "panel.yaml")
    status, said = commanded(Path(home.root.path), *given, "--budget", "5")
    assert status == 2 and "the price of good0" in said and "--budget-calls" in said
    status, said = commanded(Path(home.root.path), *given, "--judging-budget", "5")
    assert status == 2 and "the price of judge one (m) is unknown" in said
    assert server.requests() == []
    server.script(answering("good0"))
    status, said = commanded(Path(home.root.path), "sums", "--budget-calls", "2")
    assert status == 3 and len(server.requests()) == 2


def test_missing_keys_are_named_before_anything_runs(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = installed(tmp_path, server, "good0")
    judge = {"name": "one", "provider": "openai_compatible", "base_url": server.openai_url, "model": "m"}
    judge |= {"api_key_env": "JUDGE_KEY", "price": {"input": 1, "output": 1}}
    panel = home.panel_file
    panel.write_text(yaml.safe_dump({"judges": [judge]}))
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 2 and "no API key is set (one: JUDGE_KEY)" in said
    panel.write_text(yaml.safe_dump({"judges": [judge, {"name": "rules", "provider": "rules"}]}))
    monkeypatch.delenv("TEST_KEY")
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 2
    assert "TEST_KEY is not set; agent good0 cannot be asked: export TEST_KEY=<key>" in said
    assert "JUDGE_KEY is not set; judge one cannot be asked" in said
    assert "agent good0 cannot be run; set the variable" in said
    assert commanded(Path(home.root.path), "sums", "--dry-run")[0] == 0
    assert server.requests() == []


@pytest.mark.slow
def test_suite_run_from_files_to_report(tmp_path: Path, server: ModelServer) -> None:
    prepared = installed(tmp_path, server, "good0")
    server.script(answering("good0"))
    home = tmp_path / "other home"
    files = str(Path(prepared.suites.path) / "sums.json"), "--agent", str(Path(prepared.agents.path) / "good0.yaml")
    status, said = commanded(home, *files, "--dry-run")
    assert status == 0 and "3 attempts at 3 cases, at most 90 model calls" in said and not home.exists()
    assert server.requests() == []
    status, said = commanded(home, *files, "--budget", "0.001", "--concurrency", "1")
    assert status == 3 and "of 3 attempts are finished and kept" in said
    status, said = commanded(home, *files)
    assert status == 0, said
    assert "right answers      3 of 3 (100.0%)" in said and "outcome            passed 3 of 3 (100.0%" in said
    assert len(server.requests()) == 6
    for agents in ([], ["--agent", "good0"]):  # by name, with the installation's agents
        status, said = commanded(home, "sums", *agents)
        assert status == 0 and "finished before    3 attempts; --fresh repeats them" in said
    assert len(server.requests()) == 6


BROKEN_SERVER = {"name": "broken", "command": sys.executable, "args": ["-c", "raise SystemExit('no configuration')"]}


def test_runs_that_fail_without_the_agents_doing_are_not_counted_and_tried_again(
    tmp_path: Path, server: ModelServer
) -> None:
    home = installed(tmp_path, server, "good0")
    outage = [rule("bad_request", contains=f"Task {n}:") for n in (0, 2)]
    server.script([*outage, *answering("good0")])
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 1
    assert "right answers      1 of 1 (100.0%)" in said and "passed             1 of 1 attempt" in said
    assert (
        "errors             2 of 3 attempts ended in an error, not counted: " in said
        and "Re-run to retry only them" in said
    )
    assert "outcome            passed 1 of 1 (100.0%" in said and "; 2 more without a known outcome" in " ".join(
        said.split()
    )
    (drop,) = scan(home.drops).drops
    rows = {row["case_id"]: row for row in home.table(drop, "tool_use_results").rows()}
    assert {name: row["passed"] for name, row in rows.items()} == {"case0": None, "case1": True, "case2": None}
    for name in ("case0", "case2"):
        assert [issue["kind"] for issue in rows[name]["issues"]] == ["infrastructure"]
        assert rows[name]["score"] is None and rows[name]["completed"] is None and rows[name]["trajectory_id"] == name
    report = orjson.loads((home.reports(drop) / "report.json").read_bytes())["tool_use"]
    assert (report["runs"], report["passed"], report["failed"]) == (1, 1, ["case0", "case2"])
    judged = home.table(drop, "trajectory_verdicts", "rules").rows()
    assert {row["trajectory_id"] for row in judged} == {"case1"}  # what did not end by itself is no wrong answer
    for page in ("report.html", "report.md", "agent_run.md"):
        assert "not counted" in (home.reports(drop) / page).read_text()
    assert not [
        row for row in home.table(drop, "task_metrics").rows() if row["metric"] == "passed" and row["value"] == 0
    ]
    before = len(server.requests())
    server.script(answering("good0"))
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 0 and "right answers      3 of 3 (100.0%)" in said and "finished before    1 attempt" in said
    assert len(server.requests()) - before == 4


def test_a_tool_server_that_does_not_start_is_no_wrong_answer(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0")
    path = Path(home.agents.path, "good0.yaml")
    path.write_text(path.read_text().replace("[calculator]", "[calculator], mcp: [" + str(BROKEN_SERVER) + "]"))
    status, said = commanded(Path(home.root.path), "sums")
    assert (
        status == 1 and "errors             3 of 3 attempts ended in an error, not counted: MCP server 'broken'" in said
    )
    assert "no configuration" in said and "passed             0 of 0 attempts" in said
    assert "right answers" not in said and "model calls  " not in said  # without any, there is nothing to count
    (drop,) = scan(home.drops).drops
    kinds = [[issue["kind"] for issue in row["issues"]] for row in home.table(drop, "tool_use_results").rows()]
    assert kinds == [["infrastructure"]] * 3


@pytest.mark.slow
def test_a_key_that_a_tool_server_prints_is_nowhere_in_the_installation(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = 'kéy-"most-private"/+secret=value'
    monkeypatch.setenv("REVEALED_KEY", key)
    home = installed(tmp_path, server, "good0", "bad1")
    stdio = {"name": "tests", "command": COMMAND[0], "args": COMMAND[1:], "cwd": ROOT, "env_from": ["REVEALED_KEY"]}
    dies = "import os, sys; sys.exit('refused: ' + os.environ['REVEALED_KEY'])"
    broken = {"name": "broken", "command": sys.executable, "args": ["-c", dies], "env_from": ["REVEALED_KEY"]}
    for name, mcp in (("good0", stdio), ("bad1", broken)):
        path = Path(home.agents.path, f"{name}.yaml")
        path.write_text(path.read_text().replace("[calculator]", f"[calculator], mcp: [{orjson.dumps(mcp).decode()}]"))
    arguments = {"name": "REVEALED_KEY"}
    asked = [{"name": "reveal", "arguments": arguments}, {"name": "reveal_by_failing", "arguments": arguments}]
    server.script([steps("Task", {"calls": asked}, {"text": DONE.format("0")})])
    _, said = commanded(Path(home.root.path), "sums")
    assert "refused: [masked]" in said
    drop = next(drop for drop in scan(home.drops).drops.values() if "good0" in drop.key)
    found = [item for item in read_trajectories(drop.sources, UnmappedFields()) if isinstance(item, Trajectory)]
    assert results(found[0])[0].count("[masked]") >= 5 and "[masked]" in str(errors(found[0])[1])
    encoded = base64.b64encode(key.encode())
    secrets = [key.encode(), key.encode("unicode_escape"), quote(key, safe="").encode(), encoded[:-4], b"most-private"]
    told = [str(request.body).encode() for request in server.requests()]
    files = [path.read_bytes() for path in Path(home.root.path).rglob("*") if path.is_file()]
    # Tables are compressed: their rows are looked at as text.
    lake = [str(list(pq.ParquetFile(path).iter_batches())).encode() for path in Path(home.root.path).rglob("*.parquet")]
    assert lake and not [
        secret for secret in secrets for data in (*files, *lake, *told, said.encode()) if secret in data
    ]


def test_judges_that_cannot_be_used_are_told_before_any_agent_is_paid(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0")
    server.script(answering("good0"))
    home.panel_file.write_text(
        "judges: [{name: m, provider: python, evaluator: {package: autoevals, metric: Nonsense}}]"
    )
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 2 and "judge m: " in said
    assert server.requests() == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing"], "/suites; known: "),
        (["sum"], "did you mean 'sums'?"),
        (["sums", "--agent", "god0"], "did you mean 'good0'?"),
        (["sums", "--agent", "none"], "no agent of that name in "),
        (["sums", "--agent", "BROKEN"], "unknown provider 'rules'; choose one of"),
        (["broken"], "broken.yaml"),
    ],
)
def test_suite_run_refuses_what_it_cannot_use(
    tmp_path: Path, server: ModelServer, arguments: list[str], reason: str
) -> None:
    home = installed(tmp_path, server, "good0")
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: a\nprovider: rules")
    given = [str(broken) if argument == "BROKEN" else argument for argument in arguments]
    status, said = commanded(Path(home.root.path), *given)
    assert status == 2 and reason in said


def test_a_refused_key_is_an_unusable_agent(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0")
    server.script([{"keys": ["another"]}])
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 2 and "the key was refused" in said


def test_an_endpoint_that_fails_is_no_error_of_usage(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0")
    (agent,) = Path(home.agents.path).glob("good0.yaml")
    agent.write_text(agent.read_text() + "timeouts: {first_backoff_s: 0.01, outage_s: 2}\n")
    server.script([rule("server_error")])
    status, said = commanded(Path(home.root.path), "sums")
    assert status == 1 and "3 attempts are finished and kept. Re-run to resume." in said


def test_a_run_beside_another_is_no_error_of_usage(tmp_path: Path, server: ModelServer) -> None:
    home = Path(installed(tmp_path, server, "good0").root.path)
    status, _ = commanded(home, "sums")
    (finished,) = home.glob("agent_runs/finished/*.jsonl")
    with Journal.opened(finished.rename(home / "agent_runs" / finished.name), ""):
        status, said = commanded(home, "sums")
    assert status == 1 and "another process is running this agent" in said


def test_a_suite_that_a_sidecar_names_and_nobody_wrote_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "x.jsonl").write_bytes(run_of(1, good=True))
    without = command("evaluate", folder, "--as", "x/", "--quiet", home=tmp_path / "home").stdout
    assert "  suite  " not in without, "the name of the folder"
    (folder / "x.drop.yaml").write_text("suite: checkout")
    said = command("evaluate", folder, "--as", "x/", "--replace", "--quiet", home=tmp_path / "home").stdout
    assert "checkout has no file in" in said and "the drop is evaluated without test cases" in said


_FLAKY = """
def answer(task):
    if task["trial"]:
        raise ValueError("no connection")
    return task["task"]
"""


def test_attempts_that_crash_an_agents_own_program_stand_beside_the_rate(tmp_path: Path) -> None:
    """An agent that crashed in every second attempt had passed all of them."""
    cases = [{"id": f"c{number}", "message": f"Say {number}.", "keywords": [str(number)]} for number in range(3)]
    (tmp_path / "sums.yaml").write_bytes(orjson.dumps({"cases": cases}))
    (tmp_path / "flaky.py").write_text(_FLAKY)
    (tmp_path / "flaky.yaml").write_text("name: flaky\nprovider: python\nfunction: flaky:answer\n")
    asked = ("suite", "run", tmp_path / "sums.yaml", "--agent", tmp_path / "flaky.yaml", "--trials", "2")
    printed = command(*asked, "--quiet", home=tmp_path / "home").stdout
    (outcome,) = [line for line in printed.splitlines() if line.startswith("  outcome ")]
    assert "passed 3 of 3 (100.0%, " in outcome and outcome.endswith("); 3 of 6 attempts ended in an error"), printed
