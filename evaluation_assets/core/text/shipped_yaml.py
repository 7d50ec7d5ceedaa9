"""YAML files that ship with the package."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML in C, where it was built with libyaml: ten times as fast."""


@cache
def shipped_yaml(package: str, file: str) -> Any:
    """What a file in a package says. All who read it share one value, and change nothing in it."""
    return yaml.load(files(package).joinpath(file).read_text("utf-8"), _LOADER)  # noqa: S506  (a SafeLoader)
