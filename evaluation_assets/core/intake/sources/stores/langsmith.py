"""Traces of LangSmith, through its Python SDK, which needs the extra `langsmith`.

The traces API v2 (`/api/v2/traces`, self-hosted from 0.16 on) lists root runs and gives the runs of a trace. They are
written as a nested run in the names of the run data format, which exports of the SDK have too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, get_args

import langsmith
import orjson
import requests
from langsmith.types import RunSelectField
from langsmith.types.run import Run
from langsmith.utils import LangSmithAuthError, LangSmithError, LangSmithNotFoundError
from pydantic import ValidationError

from evaluation_assets.core.intake.sources.secrets import secret
from evaluation_assets.core.intake.sources.settings import LangsmithSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace, Wanted, in_utc
from evaluation_assets.core.system.one_origin import MOST_REDIRECTS, OtherOrigin, only_to, refusal_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PAGE = 100
"""Traces of a page, the most that the API gives."""

_MARGIN = timedelta(minutes=10)
"""Around a trace, for runs of machines whose clocks differ; the API needs a span of time beside the trace's ID."""

_RETRIES = 3
_TIMEOUT_S = 60
_UNUSED = ("ATTACHMENTS", "EVENTS", "MANIFEST", "SHARE_URL", "INPUTS_PREVIEW", "OUTPUTS_PREVIEW", "LS_USER_ID")
_SELECTED: list[RunSelectField] = [field for field in get_args(RunSelectField) if field not in _UNUSED]
_DETAILS = ("prompt_token_details", "completion_token_details", "prompt_cost_details", "completion_cost_details")


class LangsmithTraces:
    """The traces of a LangSmith project whose root run has ended."""

    def __init__(self, settings: LangsmithSettings) -> None:
        self._settings = settings
        self._key = secret(settings.api_key_env)
        self._url = str(settings.url).rstrip("/")
        base_url = self._url.removesuffix("/v1").removesuffix("/api")  # LANGSMITH_ENDPOINT of self-hosted servers
        client = langsmith.DefaultHttpxClient(
            max_redirects=MOST_REDIRECTS, event_hooks={"request": [only_to(base_url)]}
        )
        self._api = langsmith.Langsmith(
            api_key=self._key, base_url=base_url, max_retries=_RETRIES, timeout=_TIMEOUT_S, http_client=client
        )
        self._project_id: str | None = None

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        """Yield the wanted traces that ended in `(after, until]`, in order of the ends of their root runs."""
        with _explained(self._settings):
            ends = {name: (ended_at, started_at) for ended_at, name, started_at in self._ends(after, until)}
        for name, (ended_at, started_at) in sorted(ends.items(), key=lambda item: (item[1][0], item[0])):
            if wanted(name):
                with _explained(self._settings):
                    listed = self._api.traces.list_runs(
                        name,
                        project_id=self._project(),
                        min_start_time=started_at - _MARGIN,
                        max_start_time=ended_at + _MARGIN,
                        selects=_SELECTED,
                    )
                if runs := [_run(each) for each in listed.items or ()]:  # none if it was deleted meanwhile
                    yield Trace(id=name, ended_at=ended_at, record=_tree(name, runs))

    def id_of(self, record: JsonObject) -> str | None:
        return record.get("trace_id")

    def _ends(self, after: datetime, until: datetime) -> Iterator[tuple[datetime, str, datetime]]:
        """End, ID and start of the traces that ended in a span of time. The SDK pages, and waits at rate limits."""
        traces = self._api.traces.query(
            project_id=self._project(),
            min_start_time=after - self._settings.longest,
            max_start_time=until,
            page_size=_PAGE,
            selects=["ID", "TRACE_ID", "START_TIME", "END_TIME"],
            trace_filter=self._settings.filter or langsmith.omit,
        )
        for trace in traces:
            root = trace.root_run
            if root is None or root.id is None or root.start_time is None or root.end_time is None:
                continue
            if after < (end := in_utc(root.end_time)) <= until:
                yield end, root.trace_id or root.id, in_utc(root.start_time)

    def _project(self) -> str:
        """The ID of the project."""
        if self._project_id is None:
            session = _OneServer(self._url)
            client = langsmith.Client(api_url=self._url, api_key=self._key, auto_batch_tracing=False, session=session)
            self._project_id = str(client.read_project(project_name=self._settings.project).id)
        return self._project_id


class _OneServer(requests.Session):
    """Requests to one server, also after redirects."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.max_redirects = MOST_REDIRECTS
        self._check = only_to(url)

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request, unless it goes to another server."""
        self._check(request)
        return super().send(request, **options)


def _run(run: Run) -> JsonObject:
    """A run in the names of the run data format."""
    data: JsonObject = orjson.loads(run.to_json(exclude_none=True))
    above = data.pop("parent_run_ids", [])
    data["run_type"] = str(data.get("run_type", "chain")).lower()
    data["status"] = str(data.get("status", "")).lower()
    data["session_id"] = data.pop("project_id", None)
    metadata = data.pop("metadata", None)
    if metadata:
        data["extra"] = {**data.get("extra", {}), "metadata": metadata}
    for key in _DETAILS:
        if isinstance(details := data.get(key), dict):
            data[key] = details.get("raw")
    return {**data, **({"parent_run_id": above[-1]} if above else {}), "child_runs": []}


def _tree(name: str, runs: list[JsonObject]) -> JsonObject:
    """The root run of a trace with its child runs. Runs whose parent is missing are below the root."""
    by_id = {run["id"]: run for run in runs}
    root = by_id.get(name, by_id[runs[0]["id"]])
    for run in by_id.values():  # what changes between two pages may be on both
        if run is not root:
            by_id.get(run.get("parent_run_id", ""), root)["child_runs"].append(run)
    root["trace_id"] = name
    return root


@contextmanager
def _explained(settings: LangsmithSettings) -> Iterator[None]:
    """What the SDK raises inside, as a `StoreError`; the answers of servers are not repeated, they may have texts."""
    where = f"LangSmith at {settings.url}"
    try:
        yield
    except (langsmith.AuthenticationError, langsmith.PermissionDeniedError, LangSmithAuthError):
        raise StoreError(f"{where} refuses the key in {settings.api_key_env}; it must be of this workspace") from None
    except LangSmithNotFoundError:
        raise StoreError(f"{where} has no project {settings.project!r}: check project") from None
    except langsmith.APIStatusError as problem:
        raise StoreError(f"{where}: {_remedy(problem.status_code)}") from None
    except ValidationError:
        raise StoreError(f"{where} gave an answer that its SDK cannot read: check url") from None
    except (langsmith.APIConnectionError, LangSmithError, OtherOrigin) as problem:
        if (refusal := refusal_in(problem)) is not None:
            raise StoreError(f"LangSmith at {refusal}") from None
        raise StoreError(f"{where} cannot be reached or refuses ({type(problem).__name__}): check url") from None


def _remedy(status: int) -> str:
    remedies = {
        400: "it refuses the query: check filter",
        404: "it has no traces API v2; self-hosted servers have it from version 0.16 on",
        422: "it refuses the query: check filter",
        429: "its rate limit is exceeded; raise every_seconds",
    }
    return remedies.get(status, f"it failed with HTTP status {status}; the next look tries again")
