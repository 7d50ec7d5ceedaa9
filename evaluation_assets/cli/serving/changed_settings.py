"""Load the definitions again when files of settings have changed, as the button in the UI does."""

import json
import threading
import urllib.request
from collections.abc import Callable

from upath import UPath

from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.suites.agents.settings import agent_files
from evaluation_assets.core.system.configuration import InvalidConfiguration
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local

_LOOK_EVERY_SECONDS = 5.0
_TIMEOUT_S = 120
_LOCATION = "evaluation_assets.definitions"
_RELOAD = """mutation Reload($name: String!) {
  reloadRepositoryLocation(repositoryLocationName: $name) { __typename }
}"""


def load_changed(home: Installation, ui: str, stopping: threading.Event, tell: Callable[[str], None]) -> None:
    """Watch the files of a local installation until `stopping` is set. `ui` is the URL of its UI.

    Files that cannot be used are told of, and what was loaded before stays. Files are read once they rest.
    """
    if not is_local(home.root):
        return
    loaded = seen = _state(home)
    while not stopping.wait(_LOOK_EVERY_SECONDS):
        before, seen = seen, _state(home)
        if seen == loaded or seen != before:
            continue
        if (problem := problem_of(home)) is not None:
            tell(f"changed settings cannot be used, those before stay: {problem}")
        elif _reload(ui):
            tell("changed settings are loaded")
        else:
            continue  # the UI is starting
        loaded = seen


def problem_of(home: Installation) -> str | None:
    """What is wrong with the first file of settings that cannot be used."""
    from evaluation_assets.runs.verification import unusable_settings  # noqa: PLC0415  (imports Dagster)

    try:
        return next(unusable_settings(home, load_panel(home.panel_file)), None)
    except InvalidConfiguration as problem:
        return str(problem)


def _state(home: Installation) -> dict[str, tuple[int, int]]:
    """When the files that definitions are made from were written, and their sizes."""
    files = [
        home.panel_file, home.gate_file, home.checks_file, home.sources_file, home.sinks_file, home.tool_types,
        home.cascade_file, *agent_files(home.agents), *_below(home.rubrics),
    ]  # fmt: skip
    state: dict[str, tuple[int, int]] = {}
    for file in files:
        try:
            about = file.stat()
        except OSError:
            continue
        state[str(file)] = about.st_mtime_ns, about.st_size
    return state


def _below(folder: UPath) -> list[UPath]:
    return sorted(folder.glob("*/*.yaml"), key=str)


def _reload(ui: str) -> bool:
    body = json.dumps({"query": _RELOAD, "variables": {"name": _LOCATION}}).encode()
    request = urllib.request.Request(f"{ui}/graphql", body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            data = json.load(answer)["data"]
    except (OSError, ValueError):
        return False
    return data["reloadRepositoryLocation"]["__typename"] == "WorkspaceLocationEntry"
