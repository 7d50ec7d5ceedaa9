"""Traces of a project in Arize Phoenix, by its client."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import httpx
from phoenix.client import Client
from phoenix.client.exceptions import PhoenixException

from evaluation_assets.core.intake.sources.settings import PhoenixSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace, Wanted
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.one_origin import MOST_REDIRECTS, OtherOrigin, only_to, refusal_in
from evaluation_assets.core.system.paging import paged
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TIMEOUT = 20
_ALL = 1_000_000
"""The client pages by itself up to this many rows."""

_BATCH = 20
_SHORT = timedelta(hours=1)
_LONGEST = timedelta(days=2)
"""A trace that took longer than this is not found: Phoenix selects traces by their start."""

_Found = TypeVar("_Found")


class PhoenixStore:
    """The traces of one project that have ended.

    The server selects by start. So it is asked for the traces that began at most an hour before, and for those that
    began earlier and took longer than that, which are few.
    """

    def __init__(self, settings: PhoenixSettings) -> None:
        headers: dict[str, str] = {}
        if settings.api_key_env is not None:
            key = os.environ.get(settings.api_key_env)
            if not key:
                raise StoreError(f"{settings.api_key_env} is not set; export the API key of Phoenix in it")
            headers["Authorization"] = f"Bearer {key}"
        self._settings = settings
        self._http = httpx.Client(
            base_url=str(settings.url),
            headers=headers,
            timeout=_TIMEOUT,
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
            event_hooks={"request": [only_to(str(settings.url))]},
        )
        self._client = Client(http_client=self._http)

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        listed = [
            *self._listed(after - _SHORT, until + timedelta(microseconds=1), None),
            *self._listed(after - _LONGEST, after - _SHORT, _SHORT),
        ]
        ends = {trace["trace_id"]: datetime.fromisoformat(trace["end_time"]).astimezone(UTC) for trace in listed}
        names = sorted(
            (name for name, end in ends.items() if after < end <= until and wanted(name)),
            key=lambda name: (ends[name], name),
        )
        for batch in chunks(names, _BATCH):
            records = self._records(batch)
            for name in batch:
                if name in records:  # else it was deleted in between
                    yield Trace(id=name, ended_at=ends[name], record=records[name])

    def id_of(self, record: JsonObject) -> str | None:
        name = record.get("trace_id")
        return name if isinstance(name, str) else None

    def _listed(self, begin: datetime, end: datetime, longer_than: timedelta | None) -> Sequence[Any]:
        return self._asked(
            lambda: self._client.traces.get_traces(
                project_identifier=self._settings.project,
                start_time=begin,
                end_time=end,
                order="asc",
                min_latency_ms=None if longer_than is None else longer_than.total_seconds() * 1000,
                limit=_ALL,
                timeout=_TIMEOUT,
            )
        )

    def _records(self, names: Sequence[str]) -> dict[str, JsonObject]:
        """The spans and annotations of traces, by trace."""
        project = self._settings.project
        spans: dict[str, list[Any]] = defaultdict(list)
        for span in self._asked(
            lambda: self._client.spans.get_spans(
                project_identifier=project, trace_ids=names, limit=_ALL, timeout=_TIMEOUT
            )
        ):
            spans[span["context"]["trace_id"]].append(span)
        annotations: dict[str, list[Any]] = defaultdict(list)
        for note in self._asked(lambda: self._trace_annotations(names)):
            annotations[note["trace_id"]].append(note)
        trace_of = {span["context"]["span_id"]: name for name, of_trace in spans.items() for span in of_trace}
        for note in self._asked(
            lambda: self._client.spans.get_span_annotations(
                span_ids=list(trace_of), project_identifier=project, timeout=_TIMEOUT
            )
        ):
            annotations[trace_of[note["span_id"]]].append(note)
        return {
            name: {
                "trace_id": name,
                "data": sorted(of_trace, key=lambda span: (span["start_time"], span["context"]["span_id"])),
                "annotations": annotations[name],
            }
            for name, of_trace in spans.items()
        }

    def _trace_annotations(self, names: Sequence[str]) -> list[Any]:
        """The annotations of whole traces, which the client cannot list."""

        def page_at(cursor: str | None) -> tuple[list[Any], str | None]:
            query = {"trace_ids": list(names), "limit": 1000, **({"cursor": cursor} if cursor else {})}
            reply = self._http.get(f"v1/projects/{self._settings.project}/trace_annotations", params=query)
            page = reply.raise_for_status().json()
            return page["data"], page.get("next_cursor")

        return list(paged(page_at, StoreError))

    def _asked(self, ask: Callable[[], _Found]) -> _Found:
        """What the server answers.

        Raises:
            StoreError: it refuses, or cannot be reached.
        """
        place = f"Phoenix at {self._settings.place}"
        try:
            return ask()
        except httpx.HTTPStatusError as problem:
            code = problem.response.status_code
            if code == httpx.codes.NOT_FOUND:
                why = "there is no such project; it exists once its first trace is stored"
            elif code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
                why = "it needs a valid API key; name its variable as `api_key_env` in sources.yaml"
            else:
                why = f"it answers {code}"
            raise StoreError(f"{place} gives no traces: {why}") from None
        except (httpx.HTTPError, PhoenixException, OtherOrigin) as problem:
            if (refusal := refusal_in(problem)) is not None:
                raise StoreError(f"Phoenix at {refusal}") from None
            raise StoreError(f"{place} gives no traces: {problem}") from None
