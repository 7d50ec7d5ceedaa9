from pathlib import Path

import dagster as dg
import pytest

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


def test_a_storage_of_the_installation_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {tmp_path / 'elsewhere'}}}}}\n")
    with open_instance(tmp_path) as instance:
        assert not isinstance(instance.event_log_storage, OpenEventLog)
    assert (tmp_path / "elsewhere").is_dir()
