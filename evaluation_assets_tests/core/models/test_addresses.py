"""Addresses as they are shown: without passwords and keys."""

import pytest

from evaluation_assets.core.models.addresses import without_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:password@host:5000/x?token=1", "http://host:5000/x"),
        ("http://host:5000/x?project=a&api_key=1", "http://host:5000/x?project=a"),
        ("databricks", "databricks"),
        ("sqlite:///runs.db", "sqlite:///runs.db"),
        ("/data/runs?", "/data/runs?"),
        ("http://host", "http://host"),
    ],
)
def test_credentials_in_an_address_are_not_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown
