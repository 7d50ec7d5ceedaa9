"""The key of the local model server, and a watch on what the packages connect to."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from evaluation_assets_tests.conftest import KEY

_HERE = ("127.0.0.1", "::1", "localhost", None)
_LEFT: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo" and arguments[0] not in _HERE:
        _LEFT.append(f"looked up {arguments[0]}")
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in _HERE:
        _LEFT.append(f"connected to {arguments[1][0]}")


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture(autouse=True)
def _nothing_leaves() -> Iterator[None]:
    """Telemetry, traces and downloads of a package fail the test that they happen in."""
    _LEFT.clear()
    yield
    assert _LEFT == []
