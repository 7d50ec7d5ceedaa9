"""The key of the local model server."""

import pytest

from evaluation_assets_tests.conftest import KEY


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
