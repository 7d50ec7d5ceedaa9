"""The runs of the agent become a drop, and the drop a report."""

from pathlib import Path

import dagster as dg
from support_bot.definitions import defs

import evaluation_assets

PRODUCED = [["tickets"], ["support", "agent_runs"], ["dropped", "agent_runs_dropped"]]


def test_runs_of_the_agent_are_evaluated() -> None:
    definitions = defs()
    with dg.DagsterInstance.ephemeral() as instance:
        job = definitions.resolve_implicit_global_asset_job_def()
        produced = [dg.AssetKey(key) for key in PRODUCED]
        assert job.execute_in_process(instance=instance, asset_selection=produced).success
        evaluate = definitions.resolve_job_def("evaluate")
        assert evaluate.execute_in_process(instance=instance, partition_key="agent_runs").success
    result = evaluation_assets.load_home(Path(__file__).parent.parent / ".evaluation")["agent_runs"]
    assert result.report.exists()
    assert len(result.trajectories) == 3
