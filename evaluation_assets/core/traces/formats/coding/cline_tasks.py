"""What Cline and its descendants state of a task in the files beside its conversation: the tokens and the cost of each
request in `ui_messages.json`, the models in `task_metadata.json`.
"""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample, UnreadableDrop
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage, json_object

_REQUESTS = ("api_req_started", "deleted_api_reqs", "subagent_usage")
"""Messages that state tokens: of a request, of requests that the user took back, and of sub-agents."""
_CONDENSED = "condense_context"


@dataclass(slots=True)
class ClineTask:
    """What the files beside a conversation state. `usages` are those of requests whose tokens are known."""

    model: str | None = None
    usages: list[Usage] = field(default_factory=list)
    condensing: float | None = None

    @property
    def spent(self) -> Usage | None:
        """The usage of all requests; `None` if none is stated."""
        whole = total(self.usages)
        if whole is None or whole.cost_usd is None or self.condensing is None:
            return whole
        return replace(whole, cost_usd=whole.cost_usd + self.condensing)


def tasks_beside(files: Sequence[DropFile]) -> tuple[dict[str, ClineTask], list[DropFile]]:
    """What is stated of the tasks, by their folders, and the files that are none of these."""
    tasks: dict[str, ClineTask] = {}
    others: list[DropFile] = []
    for file in files:
        try:
            sample = sample_of(file) if len(files) > 1 else Sample()
        except UnreadableDrop:
            sample = Sample()
        if not _is_beside(sample):
            others.append(file)
            continue
        task = tasks.setdefault(posixpath.dirname(file.source), ClineTask())
        for record in read_records(file):
            if not isinstance(record, Rejection):
                _add(task, record.data)
    return tasks, others


def request_usage(metrics: Fields, provider: str | None) -> Usage | None:
    """The usage that an assistant message states: as the extension writes it, or the CLI, whose input is all of it."""
    tokens = metrics.object("tokens")
    cost = metrics.number("cost")
    if metrics.is_object("tokens"):
        cached = tokens.whole("cached")
        given = _input(tokens.whole("prompt"), cached, is_whole=_is_openai(provider))
        return usage(given, tokens.whole("completion"), cost)  # `cached` has reads and writes in one
    cached, written = metrics.whole("cacheReadTokens"), metrics.whole("cacheWriteTokens")
    given = _input(metrics.whole("inputTokens"), sum_of((cached, written)), is_whole=True)
    return usage(given, metrics.whole("outputTokens"), cost, cached, written)


def _is_beside(sample: Sample) -> bool:
    first = object_in(sample.records[0]) if sample.records else {}
    return _is_ui_message(first) or "files_in_context" in first or {"task", "tokensIn", "totalCost"} <= first.keys()


def _is_ui_message(data: JsonObject) -> bool:
    return "ts" in data and data.get("type") in ("say", "ask") and isinstance(data.get(data["type"]), str)


def _add(task: ClineTask, data: Any) -> None:
    models = [first_text(each, "model_id") for each in objects_in(at(data, "model_usage"))]
    task.model = next(filter(None, models), task.model)
    said = at(data, "say")
    if said == _CONDENSED:
        task.condensing = sum_of((task.condensing, Fields(object_in(at(data, "contextCondense"))).number("cost")))
    if said in _REQUESTS and isinstance(text := at(data, "text"), str):
        provider = first_text(at(data, "modelInfo"), "providerId")
        task.usages += filter(None, [_stated(Fields(json_object(text) or {}), provider)])


def _stated(request: Fields, provider: str | None) -> Usage | None:
    """The usage of a request; Roo Code, which names the protocol, counts what is cached within the input."""
    given, written = request.whole("tokensIn"), request.whole("tokensOut")
    if given is None and written is None:  # cancelled before anything came back
        return None
    cached, kept = request.whole("cacheReads"), request.whole("cacheWrites")
    is_whole = "apiProtocol" in request or _is_openai(provider)
    given = _input(given, sum_of((cached, kept)), is_whole=is_whole)
    return usage(given, written, request.number("cost"), cached, kept)


def _input(given: int | None, cached: int | None, *, is_whole: bool) -> int | None:
    """All input. What is cached is no part of an input that is smaller."""
    within = is_whole and (cached or 0) <= (given or 0)
    return given if within or given is None else given + (cached or 0)


def _is_openai(provider: str | None) -> bool:
    return provider is not None and provider.startswith("openai")
