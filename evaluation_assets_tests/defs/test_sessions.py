"""Sessions in Dagster: verdicts, analyses, checks."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from evaluation_assets.core.judging.panel import JudgeSettings, Panel, panel_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace, command, record
from evaluation_assets_tests.model_server import ModelServer, model_server, rule
from evaluation_assets_tests.pages import without_viewer

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions" / "teams.json"


def drop(
    installation: Workspace, key: str = "teams", content: bytes | None = None, **config: Any
) -> dg.ExecuteInProcessResult:
    path = Path(installation.home.drops.path) / f"{key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(EXAMPLES.read_bytes() if content is None else content)
    return installation.run(key, **config)


def checks(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    found = result.get_asset_check_evaluations()
    return {check.check_name: check for check in found if check.asset_key == dg.AssetKey("session_analyses")}


def test_the_example_sessions_are_analysed_to_the_end(installation: Workspace) -> None:
    result = drop(installation)
    assert result.success
    rows = installation.rows("teams", "session_analyses")
    assert [row["analyst"] for row in rows] == ["panel"] * 7
    worst = min(rows, key=lambda row: row["overall_score"])
    assert (worst["session_id"], worst["unauthorized_calls"], worst["bad_responses"]) == ("order-lamps", 1, 3)
    for row in rows:
        analysis = json.loads(row["analysis"])
        assert analysis["overall_score"] == row["overall_score"]
        assert row["responses"] == analysis["conversation"]["total_responses"]
    verdicts = installation.rows("teams", "session_verdicts", "rules")
    assert {row["outcome"] for row in verdicts} <= {"scored", "abstained"}
    assert {row["subject"].split("/")[0] for row in verdicts} == {"turn", "session"}


def test_checks_name_strange_calls_and_poor_coordination(installation: Workspace) -> None:
    found = checks(drop(installation))
    assert found["sessions_judged"].passed
    assert not found["unauthorised_calls"].passed
    assert found["unauthorised_calls"].metadata["calls"].value == 1
    assert not found["coordinated"].passed
    assert found["coordinated"].severity == dg.AssetCheckSeverity.WARN


def test_a_drop_without_sessions_has_no_analysis_and_says_so(installation: Workspace) -> None:
    installation.drop("plain", record())
    result = installation.run("plain")
    assert result.success
    assert installation.rows("plain", "session_analyses") == []
    event = next(
        event.materialization
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey("session_analyses")
    )
    assert event.metadata["sessions"].value == 0
    assert event.metadata["note"].value == "no trajectory has several agents or several user turns"
    assert all(check.passed for check in checks(result).values())


def test_several_judges_have_their_analyses_side_by_side(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    panel = Panel(judges=tuple(JudgeSettings(name=name, provider="rules") for name in ("first", "second")))
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Workspace(home, build_definitions(home, panel), instance)
        assert drop(installation).success
        rows = installation.rows("teams", "session_analyses")
    assert [row["analyst"] for row in rows[:3]] == ["panel", "first", "second"]
    assert len({row["session_id"] for row in rows}) == len(rows) / 3 == 7
    assert [json.loads(row["analysis"])["judges"] for row in rows[:3]] == [["first", "second"], ["first"], ["second"]]
    assert len({row["overall_score"] for row in rows[:3]}) == 1


def test_a_judge_that_says_nothing_leaves_scores_open_and_facts_standing(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    panel = Panel(judges=(JudgeSettings(name="keyless", provider="openai", api_key_env="NO_SUCH_KEY_VARIABLE"),))
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Workspace(home, build_definitions(home, panel), instance)
        found = checks(drop(installation))
        rows = installation.rows("teams", "session_analyses")
    assert not found["sessions_judged"].passed
    assert sum(row["judged_responses"] for row in rows) == 0
    assert sum(row["unauthorized_calls"] for row in rows) == 1
    assert {row["conversation_score"] for row in rows} == {None}


def test_a_model_judges_every_subject_once_and_a_second_run_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-test")
    home = Installation.at(str(tmp_path))
    with model_server() as server, dg.DagsterInstance.ephemeral() as instance:
        judge = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": server.openai_url}
        panel = panel_of({"judges": [judge | {"api_key_env": "TEST_KEY"}]}, "panel.yaml")
        installation = Workspace(home, build_definitions(home, panel), instance)
        assert drop(installation).success
        verdicts = installation.rows("teams", "session_verdicts", "one")
        subjects = [(row["trajectory_id"], row["subject"]) for row in verdicts]
        turns = [turn for session in json.loads(EXAMPLES.read_bytes()) for turn in session["turns"]]
        interactions = sum(len(turn["agent_interactions"]) for turn in turns)
        assert len(set(subjects)) == len(subjects) == 7 + len(turns) + interactions
        assert {row["outcome"] for row in verdicts} <= {"scored", "abstained"}
        rows = installation.rows("teams", "session_analyses")
        assert all(row["reasoning_score"] is not None for row in rows if row["session_id"] == "refund-12345")
        assert {json.loads(row["analysis"])["intent_drift"]["measured_by"] for row in rows} == {"panel"}
        server.reset()
        assert drop(installation).success
        assert server.requests() == []


def test_where_embeddings_fail_letters_are_compared_and_the_analysis_says_so(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    panel = panel_of({"embeddings": {"model": "m", "api_key_env": "NO_SUCH_KEY_VARIABLE"}}, "panel.yaml")
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Workspace(home, build_definitions(home, panel), instance)
        assert drop(installation).success
        rows = installation.rows("teams", "session_analyses")
    assert {json.loads(row["analysis"])["measure"] for row in rows} == {"character n-grams"}


@pytest.fixture
def embedding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Workspace, ModelServer]]:
    """An installation whose messages are compared by embeddings of a server, at ten cents a thousand tokens."""
    monkeypatch.setenv("TEST_KEY", "sk-test")
    home = Installation.at(str(tmp_path))
    with model_server() as server, dg.DagsterInstance.ephemeral() as instance:
        model = {"model": "m", "base_url": server.openai_url, "api_key_env": "TEST_KEY"}
        panel = panel_of({"embeddings": model | {"price": {"input": 100.0, "output": 0.0}}}, "panel.yaml")
        yield Workspace(home, build_definitions(home, panel), instance), server


def metadata_of(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    events = result.get_asset_materialization_events()
    found = next(event.materialization for event in events if event.asset_key == dg.AssetKey("session_analyses"))
    return {name: value.value for name, value in found.metadata.items()}


def measures(installation: Workspace) -> set[str]:
    return {json.loads(row["analysis"])["measure"] for row in installation.rows("teams", "session_analyses")}


@pytest.mark.slow
def test_embeddings_are_paid_for_once_and_an_unchanged_re_run_asks_for_none(
    embedding: tuple[Workspace, ModelServer],
) -> None:
    installation, server = embedding
    first = metadata_of(drop(installation))
    assert measures(installation) == {"embeddings of m"}
    sent = [text for asked in server.requests() for text in asked.body["input"]]
    assert len(sent) == len(set(sent)) == first["embedded_texts"] - first["embeddings_from_ledger"]
    assert first["embedding_tokens"] == sum(-(-len(text) // 4) for text in sent)
    assert first["embedding_cost_usd"] == pytest.approx(first["embedding_tokens"] * 100 / 1e6)
    analyses = [row["analysis"] for row in installation.rows("teams", "session_analyses")]
    server.reset()
    again = metadata_of(drop(installation))
    assert server.requests() == []
    assert (again["embeddings_from_ledger"], again["embedding_tokens"]) == (first["embedded_texts"], 0)
    assert [row["analysis"] for row in installation.rows("teams", "session_analyses")] == analyses


def test_a_request_for_embeddings_that_fails_is_one_sessions_loss(embedding: tuple[Workspace, ModelServer]) -> None:
    installation, server = embedding
    server.script([rule("bad_request", path="/v1/embeddings", times=1)])
    drop(installation)
    assert measures(installation) == {"embeddings of m", "character n-grams"}


def test_a_budget_that_is_spent_on_embeddings_leaves_letters_and_says_so(
    embedding: tuple[Workspace, ModelServer],
) -> None:
    installation, server = embedding
    spent = {"evaluate_drop": {"config": {"budget_usd": 0.2}}}
    assert metadata_of(drop(installation, ops=spent))["over_budget"] > 0
    assert measures(installation) == {"embeddings of m", "character n-grams"}
    paid = len(server.requests())
    assert "over_budget" not in metadata_of(drop(installation))
    assert measures(installation) == {"embeddings of m"}
    assert len(server.requests()) > paid


def test_the_budget_of_a_command_holds_for_sessions_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-test")
    with model_server() as server:
        endpoint = {"model": "m", "base_url": server.openai_url, "api_key_env": "TEST_KEY"}
        endpoint |= {"price": {"input": 100.0, "output": 0.0}}
        judge = {"name": "one", "provider": "openai_compatible", "max_concurrency": 1, "levels": ["session"]} | endpoint
        (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge], "embeddings": endpoint}))
        arguments = ["evaluate", EXAMPLES, "--panel", tmp_path / "panel.yaml", "--budget", "1"]
        assert command(*arguments, home=tmp_path / "home").returncode == 3
        assert server.requests()
    home = Installation.at(str(tmp_path / "home"))
    verdicts = list(home.table("teams", "session_verdicts", "one").rows(["outcome", "error_kind"]))
    outcomes = Counter((row["outcome"], row["error_kind"]) for row in verdicts)
    assert 0 < outcomes["not_run", "budget"] < outcomes.total()
    assert sum(cost for (cost,) in paid_in(home)) <= 1


def paid_in(home: Installation) -> list[tuple[float]]:
    with sqlite3.connect(home.ledger_url.removeprefix("sqlite:///")) as ledger:
        return ledger.execute("SELECT cost_usd FROM replies").fetchall()


def test_the_report_shows_sessions_turn_by_turn_and_agents_side_by_side(installation: Workspace) -> None:
    assert drop(installation).success
    reports = installation.home.reports("teams")
    data = json.loads((reports / "report.json").read_text())["sessions"]
    assert (data["total"], data["conversation"]["bad_responses"]) == (7, 6)
    assert [entry["analysis"]["session_id"] for entry in data["sessions"]][:2] == ["order-lamps", "report-heat-pumps"]
    ranked = [agent["overall"]["mean"] for agent in data["agents"]]
    assert ranked == sorted(ranked, reverse=True)
    assert len(ranked) == data["agents_total"] == 26
    page = (reports / "report.html").read_text()
    assert 'id="sessions"' in page
    assert page.count('class="lane"') == 26
    assert "## Sessions" in (reports / "report.md").read_text()


def test_of_a_crowd_the_report_draws_the_first_agents(installation: Workspace) -> None:
    """A lane for each of 2,500 speakers took 20 s, as each goes through all that was said."""
    parts = [{"agent_id": f"agent {n}", "agent_response": f"I am {n}.", "agent_steps": []} for n in range(30)]
    turns = [{"user_message": "Who is there?", "agent_interactions": parts}]
    content = json.dumps([{"session_id": "crowd", "initial_task": "Meet.", "agents": [], "turns": turns}]).encode()
    assert drop(installation, "crowd", content).success
    page = (installation.home.reports("crowd") / "report.html").read_text()
    assert page.count('class="lane"') == 20 and "and 10 more agents" in page


def test_a_drop_without_sessions_has_no_section(installation: Workspace) -> None:
    installation.drop("plain", record())
    assert installation.run("plain").success
    reports = installation.home.reports("plain")
    assert json.loads((reports / "report.json").read_text())["sessions"] is None
    assert 'id="sessions"' not in (reports / "report.html").read_text()


def test_scores_of_sessions_are_metrics_that_runs_are_compared_by(installation: Workspace) -> None:
    assert drop(installation).success
    rows = [row for row in installation.rows("teams", "task_metrics") if row["metric"].startswith("session.")]
    names = {"overall", "conversation", "tool_use", "coordination"}
    assert {row["metric"] for row in rows} == {f"session.{name}" for name in names}
    analyses = {row["task_id"]: row["overall_score"] for row in installation.rows("teams", "session_analyses")}
    assert {row["task_id"]: row["value"] for row in rows if row["metric"] == "session.overall"} == analyses
    history = {row["metric"] for row in installation.rows("teams", "score_history")}
    assert "session.coordination" in history


def test_hostile_sessions_stay_text(installation: Workspace) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)> | [x](javascript:alert(3))"
    parts = [{"agent_id": agent, "agent_response": hostile, "agent_steps": []} for agent in (hostile, "b", hostile)]
    turns = [{"user_message": f"{hostile} That is wrong.", "agent_interactions": parts}] * 2
    content = json.dumps([{"session_id": hostile, "initial_task": hostile, "agents": [], "turns": turns}]).encode()
    assert drop(installation, "hostile", content).success
    reports = installation.home.reports("hostile")
    page = (reports / "report.html").read_text()
    assert "<script" not in without_viewer(page)
    assert "<img" not in without_viewer(page)
    section = (reports / "report.md").read_text().partition("## Sessions")[2].partition("\n## ")[0]
    assert "alert" in section
    assert "](javascript" not in section
    assert "<img" not in section


@pytest.mark.parametrize("missing", ["session_verdicts", "session_analyses"])
def test_their_tables_are_described(missing: str) -> None:
    page = (EXAMPLES.parent.parent.parent / "docs" / "tables.md").read_text("utf-8")
    assert f"## {missing}" in page


def test_the_report_names_the_decisive_step_of_a_failed_session(installation: Workspace) -> None:
    said = [("Planner", "First we look the year up."), ("Historian", "It was in 1911, as page 14 of the book says.")]
    steps = [{"agent_id": agent, "agent_response": words} for agent, words in said]
    chat = {
        "session_id": "chat",
        "initial_task": "When was it?",
        "success": False,
        "turns": [{"user_message": "When was it?", "agent_interactions": steps}],
    }
    drop(installation, "chats", json.dumps(chat).encode())
    (row,) = [each for each in installation.rows("chats", "session_analyses") if each["analyst"] == "panel"]
    assert row["decisive_agent"] in ("Planner", "Historian")
    page = (Path(installation.home.reports("chats").path) / "report.html").read_text()
    assert "<dt>Decisive</dt>" in page
    assert "64.1% (agent) and 44.8% (step) of other sessions" in page


@pytest.mark.slow
def test_an_evaluation_with_another_quorum_keeps_the_earlier_analyses(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    judges = tuple(JudgeSettings(name=name, provider="rules") for name in ("first", "second"))
    with dg.DagsterInstance.ephemeral() as instance:
        for quorum in (1, 1, 2):
            panel = Panel(judges=judges, quorum=quorum)
            installation = Workspace(home, build_definitions(home, panel), instance)
            assert drop(installation).success
    history = installation.rows("teams", "session_history")
    times = {row["comparability_key"]: row["evaluated_at"] for row in history}
    assert Counter(row["comparability_key"] for row in history) == dict.fromkeys(times, 7)
    first, second = sorted(times.values())
    assert first < second
    assert {row["evaluated_at"] for row in installation.rows("teams", "score_history")} == {first, second}
    now = {row["session_id"]: row["analysis"] for row in installation.rows("teams", "session_analyses")[::3]}
    assert {row["session_id"]: row["analysis"] for row in history if row["evaluated_at"] == second} == now
