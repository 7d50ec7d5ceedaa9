"""Bring suites and agents into an installation."""

import json
from pathlib import Path

from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes, publish_copy
from evaluation_assets.core.suites.agents.settings import AgentSettings, load_agent
from evaluation_assets.core.suites.formats.registry import LoadedSuite, as_document, find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_inside
from evaluation_assets.core.text.unique_keys import settings_of, settings_text


def take_in_suite(home: Installation, path: Path) -> LoadedSuite:
    """Copy a suite below `suites/`, unless it is there already.

    A suite of one file is copied as it is; one of several (a folder, or answers beside the questions) is written as one
    file in this project's own form. The suite is named by the file or folder.

    Raises:
        InvalidSuite: the suite cannot be used, or another file has its name.
    """
    source = UPath(path.resolve())
    loaded = load_suite(source)
    if is_inside(source, home.suites):
        return loaded
    is_whole = len(loaded.files) == 1 and not source.is_dir()
    target = home.suites / f"{source.stem}{source.suffix if is_whole else '.json'}"
    taken = find_suite(home.suites, source.stem)
    if taken is not None and taken != target:
        raise InvalidSuite(f"{path}: {taken} has the same name; remove it, or rename one of them")
    if is_whole:
        publish_copy(source, target)
    else:
        document = json.dumps(as_document(loaded.suite), ensure_ascii=False, indent=1).encode()
        publish_bytes(target, document)
    return loaded


def take_in_agent(home: Installation, path: Path) -> AgentSettings:
    """Copy an agent's file below `agents/` under the agent's name, unless it is there already.

    Raises:
        InvalidAgent: the agent cannot be used.
    """
    source = UPath(path.resolve())
    agent = load_agent(source)
    if not is_inside(source, home.agents):
        target = home.agents / f"{agent.name}.yaml"
        if agent.is_own:  # its code stays where it is
            about = {**settings_of(source.read_text("utf-8")), "folder": agent.folder}
            publish_bytes(target, settings_text(about).encode())
        else:
            publish_copy(source, target)
    return agent
