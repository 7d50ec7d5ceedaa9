"""Agents inside sessions over the drops of a suite: figures, ranks, report, export."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.cli.main import main
from evaluation_assets.core.gating.session_agents import ranked
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.scoring.intervals import mean_of_tasks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace, record

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions" / "teams.json"


def drop(installation: Workspace, key: str, *, unlike: bool = False, passes: bool = True) -> None:
    """The example sessions; `unlike`: in each, the first agent calls a tool it does not have."""
    sessions = json.loads(EXAMPLES.read_bytes())
    if unlike:
        for session in sessions:
            session["turns"][0]["agent_interactions"][0]["agent_steps"] = [
                {"tool_call": {"tool_name": "strange_tool", "parameters": {"town": "Leeds"}, "error": "Error: no"}}
            ]
    path = Path(installation.home.drops.path) / f"{key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(sessions).encode())
    assert installation.run(key).success == passes


@pytest.fixture
def suite(installation: Workspace) -> Workspace:
    """Two drops of one suite; the second is worse."""
    drop(installation, "teams/first")
    drop(installation, "teams/second", unlike=True)
    return installation


def test_every_agent_of_a_drop_has_its_figures_with_what_they_rest_on(installation: Workspace) -> None:
    drop(installation, "teams/first")
    rows = {row["agent_id"]: row for row in installation.rows("teams/first", "session_agents")}
    analyses = {
        row["session_id"]: json.loads(row["analysis"]) for row in installation.rows("teams/first", "session_analyses")
    }
    own = analyses["order-lamps"]["per_agent_scores"]["sales_agent"]
    row = rows["sales_agent"]
    assert (row["suite"], row["n_sessions"], row["n_interactions"]) == ("teams", 1, own["interactions_count"])
    assert (row["overall_mean"], row["overall_low"], row["overall_tasks"]) == (own["overall"], None, 1)
    assert (row["reasoning_mean"], row["reasoning_tasks"]) == (None, 0)
    assert row["total_latency_ms"] == own["latency_ms"]["value"]
    assert row["total_cost_usd"] is None
    issues = [issue["severity"] for issue in analyses["order-lamps"]["issues"] if issue["agent_id"] == "sales_agent"]
    assert [row[f"issues_{severity.lower()}"] for severity in ("HIGH", "MEDIUM", "LOW")] == [
        issues.count(severity) for severity in ("HIGH", "MEDIUM", "LOW")
    ]


def test_sums_say_what_they_rest_on(installation: Workspace) -> None:
    sessions = json.loads(EXAMPLES.read_bytes())[:1]
    parts = [part for turn in sessions[0]["turns"] for part in turn["agent_interactions"]]
    for part in parts:
        part.pop("latency_ms", None)
        part["agent_steps"] = []
        part["agent_response"] = "It is done."
        part["agent_id"] = parts[0]["agent_id"]
    parts[0]["latency_ms"] = 120
    sessions[0].pop("total_latency_ms", None)
    path = Path(installation.home.drops.path) / "partial.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(sessions).encode())
    installation.run("partial")
    (row,) = installation.rows("partial", "session_agents")
    assert (row["total_latency_ms"], row["n_latency_known"], row["n_interactions"]) == (120.0, 1, len(parts))
    assert (row["total_cost_usd"], row["n_cost_known"]) == (0.0124, len(parts)), "the only agent has the whole cost"
    (analysis,) = installation.rows("partial", "session_analyses")
    assert (analysis["n_latency_known"], analysis["n_interactions"]) == (1, len(parts))
    page = Path((installation.home.reports("partial") / "report.html").path).read_text()
    assert f"120 ms <small>1 of {len(parts)} known</small>" in page


def test_trials_of_a_task_count_as_one_task(installation: Workspace) -> None:
    sessions = json.loads(EXAMPLES.read_bytes())
    own = next(session for session in sessions if session["session_id"] == "refund-12345")
    other = next(session for session in sessions if session["session_id"] == "order-lamps")
    other["agents"][0]["id"] = other["turns"][0]["agent_interactions"][0]["agent_id"] = "planner"
    content = [own | {"session_id": "a", "task_id": "t"}, own | {"session_id": "b", "task_id": "t"}, other]
    path = Path(installation.home.drops.path) / "trials.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(content).encode())
    assert installation.run("trials").success
    row = next(row for row in installation.rows("trials", "session_agents") if row["agent_id"] == "planner")
    analyses = [json.loads(row["analysis"]) for row in installation.rows("trials", "session_analyses")]
    scores = [analysis["per_agent_scores"]["planner"]["overall"] for analysis in analyses]
    assert (row["n_sessions"], row["overall_tasks"]) == (3, 2)
    assert row["overall_mean"] == mean_of_tasks([scores[0], scores[2]]).mean
    assert (row["overall_low"], row["overall_high"]) == (None, None)  # two tasks


def test_agents_are_ranked_against_themselves_over_the_drops_of_a_suite(suite: Workspace) -> None:
    result = suite.definitions.resolve_job_def("overview").execute_in_process(instance=suite.instance)
    assert result.success
    rows = [row for row in suite.home.whole_table("session_agent_ranks").rows() if row["agent_id"] == "executor"]
    assert {row["drop"] for row in rows} == {"teams/first", "teams/second"}
    rows = [row for row in suite.home.whole_table("session_agent_ranks").rows() if row["agent_id"] == "planner"]
    assert [(row["drop"], row["rank"], row["n_ranked"]) for row in rows] == [
        ("teams/first", 1, 2),
        ("teams/second", 2, 2),
    ]
    assert rows[0]["overall_mean"] > rows[1]["overall_mean"]


def test_the_report_shows_the_ranks_once_there_is_another_drop(suite: Workspace) -> None:
    first, second = (suite.home.reports(f"teams/{name}") for name in ("first", "second"))
    assert json.loads((first / "report.json").read_text())["agent_ranks"] == []
    ranks = json.loads((second / "report.json").read_text())["agent_ranks"]
    assert [(row["drop"], row["rank"]) for row in ranks if row["agent_id"] == "planner"] == [
        ("teams/first", 1),
        ("teams/second", 2),
    ]
    assert "Agents over the drops of this suite" in (second / "report.html").read_text()
    assert "| planner | this drop | 2 of 2 |" in (second / "report.md").read_text()


def test_agents_are_exported_with_their_ranks(suite: Workspace, tmp_path: Path) -> None:
    output = tmp_path / "agents.jsonl"
    arguments = ["--format", "session_agents", "--output", str(output), "--home", str(suite.home.root)]
    done = CliRunner().invoke(main, ["export", "teams/second", *arguments])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert done.output == f"{output}: {len(rows)} agents\n"
    assert len(rows) == len(suite.rows("teams/second", "session_agents"))
    planner = next(row for row in rows if row["agent_id"] == "planner")
    assert (planner["rank"], planner["n_ranked"]) == (2, 2)


def test_a_drop_without_sessions_has_no_agents(installation: Workspace) -> None:
    installation.drop("plain", record())
    assert installation.run("plain").success
    assert installation.rows("plain", "session_agents") == []


def test_a_gate_may_look_at_the_scores_of_sessions(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    home.gate_file.write_text("gate:\n  metrics: [session.tool_use]\n  rule: tolerance\n")
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Workspace(home, build_definitions(home, Panel()), instance)
        drop(installation, "teams/first")
        accepted = {"baseline": {"config": {"promoted_by": "ada", "reason": "release 1"}}}
        assert installation.run("teams/first", "promote_baseline", ops=accepted).success
        drop(installation, "teams/second", unlike=True, passes=False)
    gate = json.loads((home.reports("teams/second") / "report.json").read_text())["gate"]
    assert gate["verdict"] == "fail"
    assert [metric["metric"] for metric in gate["metrics"] if metric["gates"]] == ["session.tool_use"]


def row_of(drop: int, agent: str, overall: float | None, key: str = "k") -> dict[str, Any]:
    return {"drop": f"d{drop}", "agent_id": agent, "overall_mean": overall, "comparability_key": key}


def test_only_drops_that_were_judged_like_the_last_one_are_ranked() -> None:
    rows = ranked([row_of(0, "a", 0.9, "old"), row_of(1, "a", 0.5), row_of(2, "a", None), row_of(3, "a", 0.7)])
    assert [(row["drop"], row["rank"], row["n_ranked"]) for row in rows] == [
        ("d3", 1, 2),
        ("d1", 2, 2),
        ("d2", None, 2),
    ]
    assert ranked([]) == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.floats(0, 1)), max_size=12))
def test_the_rank_of_an_agent_is_how_many_drops_are_better_plus_1(scores: list[tuple[str, float | None]]) -> None:
    rows = ranked([row_of(number, agent, overall) for number, (agent, overall) in enumerate(scores)])
    assert len(rows) == len(scores)
    for agent in {agent for agent, _ in scores}:
        own = [row for row in rows if row["agent_id"] == agent]
        known = [row["overall_mean"] for row in own if row["rank"] is not None]
        assert known == sorted(known, reverse=True)
        assert [row["rank"] for row in own] == [
            None if (mean := row["overall_mean"]) is None else 1 + sum(other > mean for other in known) for row in own
        ]
        assert {row["n_ranked"] for row in own} == {len(known)}
