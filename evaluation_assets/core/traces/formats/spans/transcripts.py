"""Convert a trace to a trajectory: the span tree becomes steps of agents.

Model spans become messages, tool spans become results, agent spans determine the agent. Other spans are counted as
unmapped, by the library that wrote them. Each model call receives the whole history; here every message appears once,
at its first occurrence.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.base import Record, Rejection, UnusableRecord
from evaluation_assets.core.traces.formats.context import ended_by
from evaluation_assets.core.traces.formats.final_answers import final_message, final_submission
from evaluation_assets.core.traces.formats.isolation import attempted, usable
from evaluation_assets.core.traces.formats.spans.attributes import hand_off_in, kind_of
from evaluation_assets.core.traces.formats.spans.drop_log import DropLog
from evaluation_assets.core.traces.formats.spans.langfuse_observations import read_sdk_attributes
from evaluation_assets.core.traces.formats.spans.naming import SESSION
from evaluation_assets.core.traces.formats.spans.run_agent import run_agent
from evaluation_assets.core.traces.formats.spans.run_facts import EVALUATION, facts_of
from evaluation_assets.core.traces.formats.spans.side_by_side import with_time_covered
from evaluation_assets.core.traces.formats.spans.spool import SpanSpool, trace_in
from evaluation_assets.core.traces.formats.spans.statements import failure, stated_usage, stop_reason
from evaluation_assets.core.traces.formats.spans.telling import Telling
from evaluation_assets.core.traces.formats.spans.tree import Span, Trace
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.transcript import Transcript, as_text, flags_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in, objects_in, without_none
from evaluation_assets.core.traces.formats.usage import at_most, confirm
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.traces.trajectories.recorded_spans import SPANS, TOOL_SPANS, TRACE, TRACES_OF_SPANS

_RECORDED_TWICE = "recorded_twice"


def each_trace(
    records: Iterable[Record | Rejection],
    name: str,
    unmapped: UnmappedFields,
    keep: Callable[[SpanSpool, Record], Trajectory | Rejection | None],
    labelled: Callable[[Trajectory], Trajectory] = lambda run: run,
    drop: DropLog | None = None,
) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per conversation of a drop, `labelled` if its reader knows more of it.

    `keep` spools the spans of a record. What it gives, if anything, is yielded, as are records that it rejects. A trace
    of one span may be what a provider's client recorded of another trace: it is read last, and then left out.
    """
    log = drop or DropLog()
    with SpanSpool() as spool:
        for record in records:
            kept = record if isinstance(record, Rejection) else attempted(record, partial(keep, spool))
            if kept is not None:
                yield kept
        log.agents = spool.agents
        for trace in spool.traces():
            item = usable(
                trace, lambda trace: labelled(trajectory_of(trace_in(trace), name, unmapped, log)), goes_on=True
            )
            if not isinstance(item, Rejection) or item.reason != _RECORDED_TWICE:
                yield item
    log.calls.note_in(unmapped)


def trajectory_of(trace: Trace, name: str, unmapped: UnmappedFields, drop: DropLog) -> Trajectory:
    """Build the trajectory of a trace, or of the joined traces of a conversation. `drop` is that of all its traces.

    Raises:
        UnusableRecord: no span has a model message or a tool call.
    """
    for span in trace.walk():
        read_sdk_attributes(span, unmapped)
    facts = facts_of(trace, unmapped)
    agent = run_agent(trace, facts, drop)
    told = partial(_told, trace, unmapped, drop, agent.nobody)
    telling = told(with_asides=False)
    if telling.asides and not telling.events:
        telling = told(with_asides=True)
    elif telling.asides:
        unmapped.count("spans[] (model call beside the work)", telling.asides)
    if trace.repeated:
        unmapped.count("spans[] (exported twice)", trace.repeated)
    if telling.twins:
        unmapped.count("spans[] (recorded by two instrumentations)", telling.twins)
    unmapped.note("orphan_span", "spans[]", trace.orphans)
    transcript = Transcript()
    steps = telling.events.write(transcript)
    text, turns = transcript.finished()
    if telling.twins and not telling.events.speakers():
        raise UnusableRecord(_RECORDED_TWICE, "all of the trace is in another one, of another instrumentation")
    if telling.asides and not telling.events:
        raise UnusableRecord("no_trajectory_text", "all of the trace looks at the work of others: guards, evaluators")
    if not turns:
        raise UnusableRecord("no_trajectory_text", "no span of the trace has a model message or a tool call")
    spans = list(trace.walk())
    item = next((dataset_item for span in spans for dataset_item in _dataset_items(span.logs)), {})
    task = telling.task or next((turn.user_message for turn in turns if turn.user_message), "")
    last = final_message(turns)
    said = None if last is None or _is_said_in_tool(last, spans, telling) else last
    answer = telling.answer or final_submission(text, turns) or said
    starts = [span.start_s for span in spans if span.start_s is not None]
    names = list(dict.fromkeys(span.trace_id for span in spans))
    broken = failure(trace)
    places = {span: steps[entry] + call for span, (entry, call) in telling.places.items()}
    about = {
        TRACE: trace.id,
        "error": broken,
        "trace_ids": names if len(names) > 1 else None,
        "service": next((span.service for span in spans if span.service), None),
        "session_id": _first_attribute(spans, SESSION),
        TRACES_OF_SPANS: {span.id: span.trace_id for span in spans if span.id in telling.places}
        if len(names) > 1
        else None,
        TOOL_SPANS: telling.tool_spans,
        SPANS: places,
    }
    verdicts = list(_verdicts(spans))
    reference = item.get("true_answer")
    used, stated, ended = telling.usage(), stated_usage(trace), ended_by(stop_reason(spans))
    if stated is not None and used is not None:
        acting = [each for each in spans if kind_of(each) == "agent"]
        confirm(unmapped.stated, stated, used if len(acting) < 2 else at_most(used, stated))
    return Trajectory(
        id=trace.id,
        task_id=task_id_of(facts.task_id or item.get("task_id") or item.get("instance_id"), task, text),
        trial=facts.trial,
        format=name,
        task=task,
        text=text,
        turns=with_time_covered(turns, spans, places),
        agents=agent.among(telling.participants()),
        final_answer=answer,
        reference_answer=as_text(reference).strip() or None,
        success=facts.success,
        started_at=as_utc(min(starts)) if starts else None,
        duration_s=sum_of(map(_duration_s, (_spans_of(spans, name) for name in names))),
        usage=used,
        flags=flags_of(
            cut_off=ended.cut_off,
            truncated=ended.truncated,
            refused=ended.refused,
            unanswered=not answer and len(turns) <= 1,
            failed=broken is not None and facts.success is None,
            disputed=facts.disputed,
        ),
        labels=facts.labels | ({"verdicts": verdicts} if verdicts else {}),
        extra=facts.extra | {key: value for key, value in about.items() if value},
    )


def _told(trace: Trace, unmapped: UnmappedFields, drop: DropLog, nobody: str, *, with_asides: bool) -> Telling:
    telling = Telling(unmapped, drop, nobody=nobody, with_asides=with_asides)
    for root in trace.roots:
        telling.tell(root)
    return telling


def _is_said_in_tool(last: str, spans: Sequence[Span], telling: Telling) -> bool:
    """Whether the last message is that of an agent within a tool, whose result, if there is one, does not have it.

    The model that called the tool did not answer any more: it was cut off, or the tool failed.
    """
    models = {
        span.id: telling.places[span.id] for span in spans if kind_of(span) == "model" and span.id in telling.places
    }
    speaker = max(models, key=lambda name: models[name], default=None)
    for tool in (span for span in spans if kind_of(span) == "tool" and hand_off_in(span) is None):
        place = telling.places.get(tool.id)
        inside = {span.id for span in tool.walk()}
        asked = {entry for name, (entry, _) in models.items() if name not in inside}
        if place is not None and place[0] in asked and speaker in inside:
            result = telling.events.result_at(place)
            return result is None or last.strip() not in result.content
    return False


def _spans_of(spans: Iterable[Span], trace_id: str) -> list[Span]:
    return [span for span in spans if span.trace_id == trace_id]


def _duration_s(spans: Sequence[Span]) -> float | None:
    """How long a trace took. Time between the traces of a conversation is the user's."""
    starts = [span.start_s for span in spans if span.start_s is not None]
    ends = [span.start_s + (span.duration_ms or 0) / 1000 for span in spans if span.start_s is not None]
    return round(max(ends) - min(starts), 6) if starts else None


def _dataset_items(logs: Iterable[Any]) -> Iterator[JsonObject]:
    """The benchmark item that a function was called with, as logged by the Patronus SDK."""
    for body in logs:
        values = list(object_in(at(body, "function.arguments")).values())
        yield from (value for value in objects_in(values) if "true_answer" in value or "instance_id" in value)


def _first_attribute(spans: list[Span], keys: tuple[str, ...]) -> str | None:
    values = (span.attributes.get(key) for span in spans for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def _verdicts(spans: Iterable[Span]) -> Iterator[JsonObject]:
    """Evaluation results recorded as span events."""
    for span in spans:
        for event in span.events:
            if event.name == EVALUATION:
                name = event.attributes.get("gen_ai.evaluation.name")
                verdict = {
                    "judge": event.attributes.get("gen_ai.evaluation.evaluator.name") or name,
                    "level": "trajectory",
                    "subject": span.id,
                    "scores": {str(name): event.attributes.get("gen_ai.evaluation.score.value")},
                    "verdict": event.attributes.get("gen_ai.evaluation.score.label"),
                    "reasoning": event.attributes.get("gen_ai.evaluation.explanation"),
                }
                yield without_none(verdict)
