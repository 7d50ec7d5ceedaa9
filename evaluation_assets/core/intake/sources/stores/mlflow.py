"""Traces of an MLflow tracking server, by its client.

Credentials come from the client's own variables: MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or
MLFLOW_TRACKING_TOKEN.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeVar

from mlflow import MlflowClient
from mlflow.entities import Trace as MlflowTrace
from mlflow.entities import TraceInfo
from mlflow.exceptions import MlflowException
from mlflow.store.entities.paged_list import PagedList

from evaluation_assets.core.intake.sources.settings import MlflowSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace, Wanted
from evaluation_assets.core.models.addresses import without_password
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.paging import paged
from evaluation_assets.core.traces.formats.untyped import first_text, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PAGE = 200
_EXPERIMENTS = 1000
_BATCH = 20
_Found = TypeVar("_Found")
_CLIENT = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # by default a server that is down is tried for minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_ALLOW_HTTP_REDIRECTS": "false",  # they may lead to another server
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
"""Settings of the client, unless the environment has them: a sensor's tick has 60 seconds."""


class MlflowStore:
    """The traces of one server that have ended. The server compares their ends, in milliseconds, but cannot sort."""

    def __init__(self, settings: MlflowSettings) -> None:
        for variable, value in _CLIENT.items():
            os.environ.setdefault(variable, value)
        self._client = MlflowClient(tracking_uri=settings.tracking_uri)
        self._settings = settings

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        """Yield the traces that ended in `(after, until]`; those at work have no duration yet and are left out."""
        within = f"trace.end_time_ms > {_milliseconds(after)} AND trace.end_time_ms <= {_milliseconds(until)}"
        condition = f"{within} AND {self._settings.filter}" if self._settings.filter else within
        ended = [info for info in self._infos(condition) if info.execution_duration is not None]
        ends = {info.trace_id: info.request_time + (info.execution_duration or 0) for info in ended}
        names = sorted((name for name in ends if wanted(name)), key=lambda name: (ends[name], name))
        for batch in chunks(names, _BATCH):
            traces = self._traces(batch)
            for name in batch:
                if name in traces:  # else it was deleted in between
                    end = datetime.fromtimestamp(ends[name] / 1000, UTC)
                    yield Trace(id=name, ended_at=end, record=traces[name].to_dict())

    def id_of(self, record: JsonObject) -> str | None:
        return first_text(object_in(record.get("info")), "trace_id", "request_id")

    @cached_property
    def _experiments(self) -> list[str]:
        """The IDs of the experiments.

        Raises:
            StoreError: one that is named does not exist.
        """
        all_of_them = self._asked(lambda: self._client.search_experiments(max_results=_EXPERIMENTS))
        id_of = {one.name: one.experiment_id for one in all_of_them}
        names = self._settings.experiments
        if missing := [name for name in names if name not in id_of]:
            raise StoreError(
                f"no experiment {', '.join(missing)} in MLflow at {self._settings.place}. "
                "Correct `experiments` in sources.yaml."
            )
        return [id_of[name] for name in names] if names else list(id_of.values())

    def _infos(self, condition: str) -> list[TraceInfo]:
        def page_at(token: str | None) -> tuple[PagedList[MlflowTrace], str | None]:
            page = self._search(condition, False, _PAGE, token)
            return page, page.token

        return [trace.info for trace in paged(page_at, StoreError)]

    def _traces(self, names: Sequence[str]) -> dict[str, MlflowTrace]:
        quoted = ", ".join(f"'{name}'" for name in names)
        traces = self._search(f"trace.request_id IN ({quoted})", True, len(names), None)
        return {trace.info.trace_id: trace for trace in traces}

    def _search(self, condition: str, include_spans: bool, most: int, token: str | None) -> PagedList[MlflowTrace]:
        return self._asked(
            lambda: self._client.search_traces(
                locations=self._experiments,
                filter_string=condition,
                max_results=most,
                order_by=["timestamp_ms ASC"],
                page_token=token,
                include_spans=include_spans,
            )
        )

    def _asked(self, ask: Callable[[], _Found]) -> _Found:
        """What the server answers.

        Raises:
            StoreError: it refuses, or cannot be reached.
        """
        try:
            return ask()
        except MlflowException as problem:
            why = problem.message.replace(self._settings.tracking_uri, without_password(self._settings.tracking_uri))
            raise StoreError(f"MLflow at {self._settings.place} gives no traces: {why}") from None


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
