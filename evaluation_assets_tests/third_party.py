"""Recorded data of others, which is not part of this repository."""

from pathlib import Path

import pytest


def data(name: str) -> Path:
    """A file below the data folder beside the checkout; the test is skipped where there is none."""
    folder = Path(__file__).parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("third-party data is not beside this checkout")
    return folder / name
