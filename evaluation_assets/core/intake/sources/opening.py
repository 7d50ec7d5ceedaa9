"""Open the store of a source. Its client library is imported here and not before, because it may not be installed."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol

from evaluation_assets.core.intake.sources.received import ReceivedTraces
from evaluation_assets.core.intake.sources.settings import (
    CODING_AGENTS,
    BucketSettings,
    FolderSettings,
    ReceivedSettings,
    SourceSettings,
)
from evaluation_assets.core.intake.sources.store import StoreError, TraceStore
from evaluation_assets.core.intake.sources.stores.files import open_files
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.installation import Installation

_HERE = "evaluation_assets.core.intake.sources.stores"

STORES: Mapping[str, tuple[str, str | None]] = {
    "mlflow": (f"{_HERE}.mlflow", "mlflow"),
    "phoenix": (f"{_HERE}.phoenix", "phoenix"),
    "langfuse": (f"{_HERE}.langfuse", "langfuse"),
    "langsmith": (f"{_HERE}.langsmith", "langsmith"),
    **dict.fromkeys(CODING_AGENTS, (f"{_HERE}.coding_agents", None)),
}
"""The module of each type of source, which has `open_store(settings)`, and the extra with its client library.

Sources that are not here need to know the home folder.
"""


class _Module(Protocol):
    def open_store(self, settings: SourceSettings) -> TraceStore: ...


def open_store(settings: SourceSettings, home: Installation) -> TraceStore:
    """The store that a source's settings describe.

    Raises:
        StoreError: a package is missing, or the settings name nothing that can be opened.
    """
    if isinstance(settings, ReceivedSettings):
        return ReceivedTraces(Path(settings.spool) if settings.spool else home.received, settings.quiet)
    if isinstance(settings, FolderSettings | BucketSettings):
        return open_files(settings, home.root)
    module, extra = STORES[settings.type]
    try:
        opened: _Module = import_module(module)  # pyright: ignore[reportAssignmentType]
    except ImportError as problem:
        if extra is None or (problem.name or "").startswith("evaluation_assets"):
            raise
        raise StoreError(f"{settings.type} needs an extra package: {installing(extra)}") from problem
    return opened.open_store(settings)
