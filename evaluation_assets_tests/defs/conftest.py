"""An installation whose suite has a baseline, evaluated once for the tests that go on from there."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets_tests.conftest import Workspace, workspace
from evaluation_assets_tests.towns import accept


@pytest.fixture(scope="session")
def accepted_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield accept(workspace(tmp_path_factory.mktemp("accepted") / "home", instance))


@pytest.fixture
def accepted(accepted_once: Workspace, tmp_path: Path, instance: dg.DagsterInstance) -> Workspace:
    """An installation whose suite `s` has a baseline of ten good runs."""
    accepted_once.copy_to(tmp_path / "home", instance)
    return workspace(tmp_path / "home", instance)
