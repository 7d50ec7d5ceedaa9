"""Secrets of sources, from the environment variables that their settings name."""

import os

from evaluation_assets.core.intake.sources.store import StoreError


def secret(variable: str) -> str:
    """The value of an environment variable.

    Raises:
        StoreError: it is not set.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise StoreError(f"the environment variable {variable} is not set")
    return value
