"""The caller's environment does not change results."""

import os

import pytest

from evaluation_assets_tests.conftest import pytest_configure
from evaluation_assets_tests.environment import clear


@pytest.mark.parametrize(
    "name",
    [
        "PYTEST_ADDOPTS",
        "EVALUATION_HOME",
        "EVALUATION_LEDGER_URL",
        "DAGSTER_HOME",
        "OPENAI_BASE_URL",
        "MISTRAL_API_KEY",
        "https_proxy",
        "NO_PROXY",
    ],
)
def test_settings_keys_and_proxies_are_cleared(name: str) -> None:
    environment = {name: "other", "PATH": "/bin"}
    clear(environment)
    assert environment == {"PATH": "/bin"}


@pytest.mark.parametrize("name", ["PATH", "HOME", "PYTEST_XDIST_WORKER", "EVALUATION_TEST_LITELLM", "SSL_CERT_FILE"])
def test_what_processes_and_optional_tests_need_stays(name: str) -> None:
    environment = {name: "kept"}
    clear(environment)
    assert environment == {name: "kept"}


def test_pytest_clears_them_before_the_first_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    pytest_configure()
    assert "PYTEST_ADDOPTS" not in os.environ
