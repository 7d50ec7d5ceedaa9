"""Traces of Langfuse, through the observations API v2 of its Python SDK, which needs the extra `langfuse`.

The SDK has had no method that lists traces since its version 5: a trace is listed by its root observation, and fetched
as all observations with its ID. Scores are not fetched. They may arrive after the trace, and those that this project
sent would come back as labels.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import orjson
from langfuse.api.client import LangfuseAPI
from langfuse.api.commons.types.observation_v2 import ObservationV2
from langfuse.api.core.api_error import ApiError
from pydantic import ValidationError

from evaluation_assets.core.intake.sources.secrets import secret
from evaluation_assets.core.intake.sources.settings import LangfuseSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace, Wanted, in_utc
from evaluation_assets.core.system.one_origin import MOST_REDIRECTS, OtherOrigin, only_to
from evaluation_assets.core.system.paging import paged
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PAGE = 1000
"""Observations of a page, the most that the API gives."""

_PAGE_WITH_TEXTS = 100
"""Observations of a page with their inputs and outputs."""

_LONGEST = timedelta(days=7)
"""Roots that began earlier are not looked for: the server finds observations by the time that they began."""

_RETRIES = 3
_TIMEOUT_S = 60
_FIELDS = "core,basic,io,model,usage,trace_context"
_OF_TRACE = ("sessionId", "userId", "environment", "version", "release", "tags")


class LangfuseTraces:
    """The traces of a Langfuse project whose root observation has an end."""

    def __init__(self, settings: LangfuseSettings) -> None:
        self._settings = settings
        url = str(settings.url).rstrip("/")
        client = httpx.Client(
            timeout=_TIMEOUT_S,
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
            event_hooks={"request": [only_to(url)]},
        )
        self._api = LangfuseAPI(
            base_url=url,
            httpx_client=client,
            username=secret(settings.public_key_env),
            password=secret(settings.secret_key_env),
            timeout=_TIMEOUT_S,
        )

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        """Yield the wanted traces that ended in `(after, until]`, in order of the ends of their root observations."""
        ends: dict[str, datetime] = {}
        for root in self._observations(_PAGE, fields="core", filter=self._roots(after, until)):
            if root.trace_id is not None and root.end_time is not None and after < in_utc(root.end_time) <= until:
                ends[root.trace_id] = max(in_utc(root.end_time), ends.get(root.trace_id, after))
        for name, ended_at in sorted(ends.items(), key=lambda item: (item[1], item[0])):
            if wanted(name):
                observations = self._observations(_PAGE_WITH_TEXTS, fields=_FIELDS, trace_id=name)
                yield Trace(id=name, ended_at=ended_at, record=_record(name, list(observations)))

    def id_of(self, record: JsonObject) -> str | None:
        return (record.get("trace") or {}).get("id")

    def _roots(self, after: datetime, until: datetime) -> str:
        """The filter for the root observations of the traces that ended in a span of time."""
        conditions: list[JsonObject] = [
            _condition("datetime", "startTime", ">=", _iso(after - _LONGEST)),
            _condition("datetime", "endTime", ">=", _iso(after)),
            _condition("datetime", "endTime", "<=", _iso(until)),
            _condition("boolean", "isRootObservation", "=", True),
        ]
        if self._settings.environment:
            conditions.append(_condition("string", "environment", "=", self._settings.environment))
        if self._settings.trace_name:
            conditions.append(_condition("string", "traceName", "=", self._settings.trace_name))
        if self._settings.tags:
            conditions.append(_condition("arrayOptions", "traceTags", "all of", list(self._settings.tags)))
        return orjson.dumps(conditions).decode()

    def _observations(self, page: int, **query: Any) -> Iterator[ObservationV2]:
        """All observations that a query finds, page by page. The SDK waits and retries when the rate is limited."""

        def page_at(cursor: str | None) -> tuple[list[ObservationV2], str | None]:
            with _explained(self._settings):
                answer = self._api.observations.get_many(
                    limit=page, cursor=cursor, request_options={"max_retries": _RETRIES}, **query
                )
            return answer.data, answer.meta.cursor

        return paged(page_at, StoreError)


def _condition(kind: str, column: str, operator: str, value: Any) -> JsonObject:
    return {"type": kind, "column": column, "operator": operator, "value": value}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _record(name: str, observations: list[ObservationV2]) -> JsonObject:
    """A trace as a download in Langfuse's UI has it."""
    by_id = {each.id: each for each in observations}  # what changes between two pages may be on both
    documents: list[JsonObject] = [orjson.loads(each.json()) for each in by_id.values()]
    trace: JsonObject = {"id": name}
    for one in documents:
        trace |= {key: one[key] for key in _OF_TRACE if one.get(key) and key not in trace}
        if one.get("traceName"):
            trace.setdefault("name", one["traceName"])
    return {"trace": trace, "observations": documents}


@contextmanager
def _explained(settings: LangfuseSettings) -> Iterator[None]:
    """What the SDK raises inside, as a `StoreError`; the answers of servers are not repeated, they may have texts."""
    where = f"Langfuse at {settings.url}"
    try:
        yield
    except ApiError as problem:
        raise StoreError(f"{where}: {_remedy(problem.status_code, settings)}") from None
    except OtherOrigin as problem:
        raise StoreError(f"Langfuse at {problem}") from None
    except httpx.HTTPError as problem:
        raise StoreError(f"{where} cannot be reached ({type(problem).__name__}): check url") from None
    except ValidationError:
        raise StoreError(f"{where} gave an answer that its SDK cannot read: check url") from None


def _remedy(status: int | None, settings: LangfuseSettings) -> str:
    keys = f"{settings.public_key_env} and {settings.secret_key_env}"
    remedies = {
        400: "it refuses the query: check environment, trace_name and tags",
        401: f"it refuses the keys in {keys}; they must be of this project and this server",
        403: f"the keys in {keys} may not read traces",
        404: "it has no observations API v2: update the server, or export its traces as JSON",
        429: "its rate limit is exceeded; raise every_seconds",
    }
    return remedies.get(status or 0, f"it failed with HTTP status {status}; the next look tries again")
