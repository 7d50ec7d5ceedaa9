"""Annotations of traces and spans in Phoenix, as labels of a trajectory."""

from collections.abc import Iterable, Mapping

from evaluation_assets.core.traces.formats.untyped import first_text, object_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled, verdict_on_run


def labels_of(annotations: Iterable[JsonObject], steps: Mapping[str, int]) -> JsonObject:
    """Those that a model made of the trace are recorded verdicts; all others are feedback, with the step of a span.

    Args:
        annotations: as Phoenix's API gives them.
        steps: the steps of spans, by the spans' IDs.
    """
    verdicts: list[RecordedVerdict] = []
    feedback: list[JsonObject] = []
    for one in annotations:
        name, result = first_text(one, "name") or "annotation", object_in(one.get("result"))
        score, word, why = result.get("score"), first_text(result, "label"), first_text(result, "explanation")
        span = first_text(one, "span_id")
        if span is None and one.get("annotator_kind") == "LLM":
            scores: dict[str, float | None] = {}
            if isinstance(score, int | float):
                scores[name] = float(score)
            verdicts.append(
                verdict_on_run(
                    judge=name,
                    scores=scores,
                    verdict=word,
                    reasoning=why,
                )
            )
            continue
        entry = {
            "name": name,
            "value": score if word is None else word,
            "score": None if word is None else score,
            "source": one.get("annotator_kind"),
            "rationale": why,
            "span": span,
            "step": None if span is None else steps.get(span),
        }
        feedback.append(without_none(entry))
    return {**labelled(verdicts), **({"feedback": feedback} if feedback else {})}
