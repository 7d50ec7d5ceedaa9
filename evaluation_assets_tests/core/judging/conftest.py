"""What tests of judges share: a ledger, and the model server without a script."""

from pathlib import Path

import pytest

from evaluation_assets_tests.model_server import ModelServer


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


@pytest.fixture
def models(server: ModelServer) -> ModelServer:
    return server
