"""The drops of a source: a folder an hour, with the traces that ended in it."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import yaml
from upath import UPath

from evaluation_assets.core.intake.sources.settings import SourceSettings
from evaluation_assets.core.intake.sources.store import Trace, TraceStore
from evaluation_assets.core.lake.stored import publish_bytes, publish_copy, published
from evaluation_assets.core.traces.formats.files.drop_files import DIRECTORY_SIDECAR

HOUR = timedelta(hours=1)
RECORDS = "traces.jsonl"

_SAID = ("suite", "agent", "agent_version", "labels", "format", "only")


def hour_of(moment: datetime) -> datetime:
    """The beginning of an hour, in UTC."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def key_of(source: str, hour: datetime) -> str:
    """The key of the drop of an hour."""
    return f"{source}/{hour:%Y-%m-%dT%H}"


class HourDrop:
    """The drop of one hour of a source: which traces it has, and how more are added.

    Each file appears whole, and the sidecar first: without it every file would be a drop of its own. What a drop has
    is read from its files, so that a crash at any point neither loses nor doubles a trace.
    """

    def __init__(self, drops: UPath, name: str, settings: SourceSettings, hour: datetime) -> None:
        self.key = key_of(name, hour)
        self._folder = drops / self.key
        self._said = {
            **{field: value for field in _SAID if (value := getattr(settings, field))},
            "source": name,
            **({} if settings.share == 1 else {"source_share": settings.share}),
        }

    def ids(self, store: TraceStore) -> set[str]:
        """The IDs of the traces that the drop has."""
        ids = {file_id(name, ended_at) for name, ended_at in self._files().items()}
        records = self._folder / RECORDS
        if records.exists():
            with records.open("rb") as lines:
                ids |= {name for line in lines if (name := store.id_of(orjson.loads(line))) is not None}
        return ids

    def add(self, traces: Sequence[Trace]) -> None:
        """Add traces that the drop does not have."""
        files = self._files()
        self._describe(files)
        if records := [trace.record for trace in traces if trace.record is not None]:
            self._append([orjson.dumps(record) for record in records])
        for trace in traces:
            for name, path in trace.files:
                publish_copy(path, self._folder / name)
                files[name] = trace.ended_at.isoformat()
        self._describe(files)

    def replace(self, trace: Trace, store: TraceStore) -> bool:
        """Replace the record of a trace that has got more spans; return whether the drop has another one."""
        records = self._folder / RECORDS
        if not records.exists():
            return False
        line = orjson.dumps(trace.record)
        before = records.read_bytes().splitlines()
        after = [line if store.id_of(orjson.loads(each)) == trace.id else each for each in before]
        if after != before:
            publish_bytes(records, b"".join(each + b"\n" for each in after))
        return after != before

    def _append(self, more: Sequence[bytes]) -> None:
        path = self._folder / RECORDS
        with published(path) as sink:
            if path.exists():
                with path.open("rb") as lines:
                    shutil.copyfileobj(lines, sink, 1 << 20)
            sink.writelines(line + b"\n" for line in more)

    def _files(self) -> dict[str, str]:
        """The files that were copied whole, with the times that they were changed."""
        sidecar = self._folder / DIRECTORY_SIDECAR
        return dict((yaml.safe_load(sidecar.read_bytes()) or {}).get("files") or {}) if sidecar.exists() else {}

    def _describe(self, files: dict[str, str]) -> None:
        said: dict[str, Any] = {**self._said, **({"files": files} if files else {})}
        content = yaml.safe_dump(said, sort_keys=False, allow_unicode=True).encode()
        sidecar = self._folder / DIRECTORY_SIDECAR
        if not sidecar.exists() or sidecar.read_bytes() != content:
            publish_bytes(sidecar, content)


def file_id(name: str, ended_at: str) -> str:
    """The ID of a file in the state that it has since a time."""
    return f"{name}@{ended_at}"
