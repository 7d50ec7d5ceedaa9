"""The pytest plugin: the fixture `evaluation`, which evaluates files of trajectories in tests.

Pytest imports this module at each start, in every project that has this package installed. Everything that takes time
to import is therefore imported by the fixture.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from evaluation_assets.testing import Evaluation

_HOME, _PANEL = "evaluation_home", "evaluation_panel"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and settings of the same names."""
    group = parser.getgroup("evaluation_assets", "evaluation of AI agents")
    said = {
        _HOME: "Home folder of the fixture `evaluation` (default: EVALUATION_HOME, else .evaluation in the rootdir).",
        _PANEL: "Path to panel.yaml of the fixture `evaluation` (default: panel.yaml in the home folder).",
    }
    for name, text in said.items():
        group.addoption(f"--{name.replace('_', '-')}", dest=name, metavar="PATH", help=text)
        parser.addini(name, text)


@pytest.fixture(scope="session")
def evaluation(pytestconfig: pytest.Config) -> "Evaluation":
    """Evaluate trajectories: `evaluation("runs.jsonl").gate(baseline="main")` fails if the agent got worse."""
    from evaluation_assets.testing import Evaluation  # noqa: PLC0415  (0.5 s to import)

    home = _path(pytestconfig, _HOME)
    if home is None and "EVALUATION_HOME" not in os.environ:
        home = pytestconfig.rootpath / ".evaluation"
    return Evaluation(root=pytestconfig.rootpath, home=home, panel=_path(pytestconfig, _PANEL))


def _path(config: pytest.Config, name: str) -> Path | None:
    """The path of an option, relative to where pytest was started, or of a setting, relative to the rootdir."""
    option, setting = config.getoption(name), config.getini(name)
    if option:
        return config.invocation_params.dir / option
    return config.rootpath / setting if setting else None
