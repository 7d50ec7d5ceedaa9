"""A model server without a script."""

import pytest

from evaluation_assets_tests.model_server import ModelServer


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.script([])
    running.reset()
    return running
