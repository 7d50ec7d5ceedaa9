"""Files in a folder or a bucket. A file ends when it was last changed."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from upath import UPath

from evaluation_assets.core.intake.drops import InvalidDrop, as_one
from evaluation_assets.core.intake.sources.drops import file_id
from evaluation_assets.core.intake.sources.settings import BucketSettings, FolderSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace, Wanted
from evaluation_assets.core.models.addresses import without_password
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.system.regular_files import is_inside, is_local
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.trajectories.model import JsonObject

_log = log_of(__name__)

_AHEAD = timedelta(hours=1)
"""How far the clock of another machine may be ahead before it is worth a warning."""

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}


def open_files(settings: FolderSettings | BucketSettings, home: UPath) -> "FileStore":
    """The files of a folder or bucket, without those of the installation at `home`: it would read what it has written.

    Raises:
        StoreError: there is no such folder or kind of store, or it belongs to the installation.
    """
    if isinstance(settings, BucketSettings):
        try:
            root, named = UPath(settings.url), "url"
        except ValueError as problem:
            raise StoreError(f"{settings.place}: {problem}; correct `url` in sources.yaml") from None
    else:
        root, named = UPath(Path(settings.path).expanduser().resolve()), "path"
        if not Path(root.path).is_dir():
            raise StoreError(f"there is no folder {settings.path}; correct `path` in sources.yaml")
    if _is_in(root, home):
        raise StoreError(
            f"{root} belongs to the home folder, which cannot be a source; correct `{named}` in sources.yaml"
        )
    return FileStore(root, settings.include, home)


def _is_in(path: UPath, home: UPath) -> bool:
    return path.protocol == home.protocol and is_inside(path, home)


class FileStore:
    """The files below a folder, by name; those that no reader could read are left out."""

    def __init__(self, root: UPath, include: str | None, home: UPath) -> None:
        self._root = root
        self._include = include or "*"
        self._home = home

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        """Yield the files that were last changed in `(after, until]`."""
        for trace in self._traces:
            if after < trace.ended_at <= until and wanted(trace.id):
                yield trace

    def id_of(self, record: JsonObject) -> str | None:
        """Files have no records."""
        return None

    @cached_property
    def _traces(self) -> list[Trace]:
        try:
            files = self._files()
        except StoreError:
            raise
        except ImportError as problem:
            extra = _EXTRAS.get(self._root.protocol)
            how = installing(extra) if extra else str(problem)
            raise StoreError(f"{self._root.protocol} needs an extra package: {how}") from problem
        except Exception as problem:
            if is_local(self._root) and not isinstance(problem, OSError):
                raise
            why = " ".join(str(problem).split()) or type(problem).__name__  # each store has errors of its own
            raise StoreError(f"{without_password(str(self._root))} cannot be listed: {why}") from problem
        traces = [self._trace(path) for path in files if not _is_in(path, self._home)]
        ended = sorted((trace for trace in traces if trace is not None), key=attrgetter("ended_at", "id"))
        if later := [trace for trace in ended if trace.ended_at > datetime.now(UTC) + _AHEAD]:
            (name, _), *_ = later[0].files
            _log.warning(
                "%s: %s changed in the future, such as %s at %s, and are not fetched before; correct their times",
                without_password(str(self._root)),
                counted(len(later), "file"),
                name,
                later[0].ended_at.isoformat(),
            )
        return ended

    def _files(self) -> Sequence[UPath]:
        try:
            return as_one(self._root).files
        except InvalidDrop:  # there are none, and a store lists as little of a bucket that it does not have
            bucket = self._root.path.strip("/").split("/", 1)[0]
            if self._root.protocol in _EXTRAS and not self._root.fs.exists(bucket):
                raise StoreError(f"there is no bucket {bucket}; correct `url` in sources.yaml") from None
            return []

    def _trace(self, path: UPath) -> Trace | None:
        name = path.path.removeprefix(self._root.path).strip("/")
        if not (fnmatch(name, self._include) or fnmatch(path.name, self._include)):
            return None
        changed = path.fs.modified(path.path).astimezone(UTC)
        return Trace(id=file_id(name, changed.isoformat()), ended_at=changed, files=[(name, path)])
