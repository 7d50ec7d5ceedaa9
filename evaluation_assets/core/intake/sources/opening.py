"""Open the store of a source. Its client library is imported here and not before, because it may not be installed."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from evaluation_assets.core.intake.sources.coding_agent_titles import CODING_AGENT_TITLES
from evaluation_assets.core.intake.sources.received import ReceivedTraces
from evaluation_assets.core.intake.sources.settings import (
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

STORES: Mapping[str, tuple[str, str, str | None]] = {
    "mlflow": ("mlflow", "MlflowStore", "mlflow"),
    "phoenix": ("phoenix", "PhoenixStore", "phoenix"),
    "langfuse": ("langfuse", "LangfuseTraces", "langfuse"),
    "langsmith": ("langsmith", "LangsmithTraces", "langsmith"),
    **dict.fromkeys(CODING_AGENT_TITLES, ("coding_agents", "sessions_of", None)),
}
"""For each type of source the module, what in it makes a store of settings, and the extra with its client library.

Sources that are not here need to know the home folder.
"""


def open_store(settings: SourceSettings, home: Installation) -> TraceStore:
    """The store that a source's settings describe.

    Raises:
        StoreError: a package is missing, or the settings name nothing that can be opened.
    """
    if isinstance(settings, ReceivedSettings):
        return ReceivedTraces(Path(settings.spool) if settings.spool else home.received, settings.quiet)
    if isinstance(settings, FolderSettings | BucketSettings):
        return open_files(settings, home.root)
    module, name, extra = STORES[settings.type]
    try:
        store_of: Callable[[SourceSettings], TraceStore] = getattr(import_module(f"{_HERE}.{module}"), name)
    except ImportError as problem:
        if extra is None or (problem.name or "").startswith("evaluation_assets"):
            raise
        raise StoreError(f"{settings.type} needs an extra package: {installing(extra)}") from problem
    return store_of(settings)
