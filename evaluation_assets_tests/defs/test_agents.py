"""Agents as assets, and the schedule that runs them at night."""

from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import ValidationError

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.suites.agents.settings import agent_files, load_agents
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs import groups
from evaluation_assets.defs.agents import AgentRunConfig
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.installed_agents import answering, installed
from evaluation_assets_tests.model_server import ModelServer


def test_agents_side_by_side_write_drops_that_are_evaluated_like_any_other(tmp_path: Path, server: ModelServer) -> None:
    home = installed(tmp_path, server, "good0", "bad1")
    server.script(answering("good0", "bad1"))
    definitions = build_definitions(home, Panel(), agents=load_agents(agent_files(home.agents)))
    with dg.DagsterInstance.ephemeral() as instance:
        listed = definitions.resolve_job_def("run_agents").execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("task_suites")]
        )
        assert listed.success and instance.get_dynamic_partitions("suites") == ["sums"]
        ran = definitions.resolve_job_def("run_agents").execute_in_process(partition_key="sums", instance=instance)
        assert ran.success
        about = {
            event.asset_key.path[-1].removesuffix("_agent_runs"): event.materialization.metadata
            for event in ran.get_asset_materialization_events()
            if event.asset_key is not None and event.asset_key.path[0] == "agent_runs"
        }
        assert {name: each["right"].value for name, each in about.items()} == {"good0": 3, "bad1": 0}
        for name, passed in (("good0", 3), ("bad1", 0)):
            drop = str(about[name]["drop"].value)
            assert drop in scan(home.drops).drops
            instance.add_dynamic_partitions("drops", [drop])
            definitions.resolve_job_def("evaluate").execute_in_process(
                partition_key=drop, instance=instance, raise_on_error=False
            )
            rows = list(home.table(drop, "tool_use_results").rows())
            assert [row["passed"] for row in rows].count(True) == passed
            assert {row["suite"] for row in rows} == {"sums"}
            assert (home.reports(drop) / "agent_run.md").exists()


def test_without_agents_there_is_nothing_to_run(tmp_path: Path) -> None:
    definitions = build_definitions(Installation.at(str(tmp_path)), Panel())
    graph = definitions.resolve_asset_graph()
    assert groups.AGENTS not in {graph.get(key).group_name for key in graph.get_all_asset_keys()}
    assert "nightly_suites" not in {schedule.name for schedule in definitions.schedules or ()}


def nightly(definitions: dg.Definitions, kept: Workspace, hour: int = 0) -> Any:
    """What the schedule asks for tonight."""
    with dg.build_schedule_context(
        instance=kept.instance,
        scheduled_execution_time=datetime(2026, 1, 2, hour),
        repository_def=definitions.get_repository_def(),
        resources={"home": HomeResource(url=str(kept.home.root))},
    ) as context:
        return definitions.resolve_schedule_def("nightly_suites").evaluate_tick(context)


def test_the_nightly_schedule_asks_every_agent_anew(tmp_path: Path, server: ModelServer, kept: Workspace) -> None:
    home = installed(tmp_path, server, "good0", "bad1")
    home.gate_file.write_text('schedules: {suites: "30 1 * * *"}\nnightly_suites: {budget_usd: 0.5}')
    server.script(answering("good0", "bad1"))
    definitions = build_definitions(home, Panel(), agents=load_agents(agent_files(home.agents)))
    schedule = definitions.resolve_schedule_def("nightly_suites")
    assert schedule.cron_schedule == "30 1 * * *" and schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    (request,) = nightly(definitions, kept).run_requests or []
    (at_noon,) = nightly(definitions, kept, hour=12).run_requests or []
    assert at_noon.run_key != request.run_key  # Dagster starts no second run for a key
    assert kept.instance.get_dynamic_partitions("suites") == ["sums"]  # and not the broken one
    job = definitions.resolve_job_def("run_agents")
    assert job.execute_in_process(partition_key="sums", instance=kept.instance).success
    asked = len(server.requests())
    tonight = dict(request.run_config)
    assert tonight["ops"]["agent_runs"]["config"]["budget_usd"] == 0.5
    assert job.execute_in_process(
        partition_key=request.partition_key, run_config=tonight, instance=kept.instance
    ).success
    assert len(server.requests()) == 2 * asked
    assert [drop.sidecar().agent for drop in scan(home.drops).drops.values()] == ["bad1", "bad1", "good0", "good0"]


def test_a_night_without_a_suite_says_so(tmp_path: Path, server: ModelServer, kept: Workspace) -> None:
    home = installed(tmp_path, server, "good0")
    Path(home.suites.path, "sums.json").unlink()
    tick = nightly(build_definitions(home, Panel(), agents=load_agents(agent_files(home.agents))), kept)
    assert tick.skip_message == "no usable suite" and not tick.run_requests


@pytest.mark.parametrize("given", [{"trials": 0}, {"trials": -1}, {"budget_usd": -1}, {"budget_calls": -1}])
def test_a_launchpad_takes_no_trials_and_budgets_that_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(given))):
        AgentRunConfig(**given)
