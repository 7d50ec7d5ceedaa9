from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.sqlite_storage import OpenEventLog, open_instance


@dg.op
def nothing() -> None:
    pass


@dg.job
def does_nothing() -> None:
    nothing()


def test_what_open_connections_store_is_there_for_dagster_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with open_instance(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, OpenEventLog)
        runs = [does_nothing.execute_in_process(instance=instance).run_id for _ in range(6)]
        events = [len(instance.all_logs(run)) for run in runs]
    assert len(set(events)) == 1 and events[0] > 0
    with dg.DagsterInstance.get() as other:
        assert {run.run_id for run in other.get_runs()} == set(runs)
        assert [len(other.all_logs(run)) for run in runs] == events


def test_every_process_of_a_new_installation_keeps_its_connections_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    monkeypatch.setenv("DAGSTER_HOME", str(home.dagster))
    with dg.DagsterInstance.get() as of_the_daemon:
        assert isinstance(of_the_daemon.event_log_storage, OpenEventLog)
        run = does_nothing.execute_in_process(instance=of_the_daemon).run_id
    with open_instance(Path(str(home.dagster))) as instance:
        assert [each.run_id for each in instance.get_runs()] == [run]


def test_a_storage_of_the_installation_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {tmp_path / 'elsewhere'}}}}}\n")
    with open_instance(tmp_path) as instance:
        assert not isinstance(instance.event_log_storage, OpenEventLog)
    assert (tmp_path / "elsewhere").is_dir()
