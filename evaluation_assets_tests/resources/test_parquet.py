"""What Dagster shows of a stored table: where it is, and how many rows it has."""

import pyarrow.parquet as pq
from upath import UPath

from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.towns import runs


def test_tables_of_a_drop_and_over_all_drops_name_their_file_and_count_its_rows(installation: Workspace) -> None:
    installation.drop("support/d", runs(2, bad=1))
    done = installation.run("support/d")
    overview = installation.definitions.resolve_job_def("overview").execute_in_process(instance=installation.instance)
    assert done.success and overview.success
    files: dict[str, str] = {}
    for event in (
        *done.get_asset_materialization_events(),
        *overview.get_asset_materialization_events(),
    ):
        metadata = event.materialization.metadata
        if "dagster/row_count" not in metadata:
            continue
        table = UPath(str(metadata["dagster/uri"].value))
        assert metadata["dagster/row_count"].value == pq.read_metadata(table.path).num_rows, table
        assert metadata["size"].value == table.stat().st_size, table
        files["/".join(event.materialization.asset_key.path)] = table.path.removeprefix(installation.home.lake.path)
    assert files["clips"] == "/clips/support/d.parquet"
    assert files["clip_verdicts/rules_clip_verdicts"] == "/clip_verdicts/rules/support/d.parquet"
    assert files["leaderboard"] == "/leaderboard.parquet"
    assert len(files) > 20
