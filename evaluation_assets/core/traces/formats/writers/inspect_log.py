"""Write trajectories with their scores as an Inspect AI log, one sample per trajectory.

This module makes the document; `inspect_ai` validates it and writes the `.eval` archive. Every call is a message of its
own, directly before the message with its result.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evaluation_assets.core.traces.formats.untyped import without_none
from evaluation_assets.core.traces.formats.writers.parts import CallIds
from evaluation_assets.core.traces.trajectories.model import Interaction, JsonObject, Step, Trajectory, Usage

_UNKNOWN_MODEL = "unknown"


@dataclass(frozen=True, slots=True)
class SampleScore:
    """A score of a sample: a number from 0 to 1, or `C` and `I` for a recorded success and failure."""

    value: float | str
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class ClipScore:
    """The scores of a clip by criterion, 0 to 1, with what the judges wrote about it."""

    index: int
    tool_type: str
    values: Mapping[str, float]
    judges: Sequence[str] = ()
    explanation: str | None = None


Scored = tuple[Trajectory, Mapping[str, SampleScore], Sequence[ClipScore]]
"""A trajectory, its scores by name, and those of its clips."""


def log(name: str, created: str, scored: Iterable[Scored], suite: str | None = None) -> JsonObject:
    """Make an Inspect log of trajectories and their scores by name.

    Args:
        name: Name of the task that the log is about; here the drop.
        created: When the log was made, as ISO 8601 with a time zone.
        scored: Trajectories, each with its scores and those of its clips, which become intermediate score events.
        suite: Name of the data set, if known.
    """
    samples: list[JsonObject] = []
    models: list[str] = []
    names = _Names()
    for trajectory, scores, clips in scored:
        own = _models(trajectory)
        models += own
        sample = _sample(trajectory, scores, names.of(trajectory), own[0] if own else _UNKNOWN_MODEL)
        samples.append({**sample, "events": _events(clips, sample["messages"], created)})
    spoken = list(dict.fromkeys(models))
    return {
        "status": "success",
        "eval": {
            "created": created,
            "task": name,
            "model": spoken[0] if len(spoken) == 1 else _UNKNOWN_MODEL,
            "dataset": without_none(
                {"name": suite, "samples": len(samples), "sample_ids": [one["id"] for one in samples]}
            ),
            "config": {},
            "metadata": {"models": spoken} if len(spoken) > 1 else None,
        },
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": [_result(score, samples) for score in _score_names(samples)],
        },
        "stats": {"started_at": created, "completed_at": created},
        "samples": samples,
    }


class _Names:
    """IDs and epochs of samples, which name the files of the archive: unique, and without slashes."""

    def __init__(self) -> None:
        self._used: set[tuple[str, int]] = set()

    def of(self, trajectory: Trajectory) -> tuple[str, int]:
        """The task and the trial, or the trajectory's own ID where another one has them."""
        name, epoch = trajectory.task_id.replace("/", "_"), trajectory.trial + 1
        if (name, epoch) in self._used:
            name, epoch = trajectory.id.replace("/", "_"), 1
        while (name, epoch) in self._used:
            epoch += 1
        self._used.add((name, epoch))
        return name, epoch


def _models(trajectory: Trajectory) -> list[str]:
    return list(dict.fromkeys(agent.model for agent in trajectory.agents if agent.model))


def _sample(trajectory: Trajectory, scores: Mapping[str, SampleScore], name: tuple[str, int], model: str) -> JsonObject:
    answer = trajectory.final_answer
    message = {"role": "assistant", "content": answer}
    choices = [] if answer is None else [{"message": message, "stop_reason": "stop"}]
    usage = None if trajectory.usage is None else _usage(trajectory.usage)
    about = {
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "format": trajectory.format,
        "flags": list(trajectory.flags) or None,
        "agents": [agent.name or agent.id for agent in trajectory.agents] or None,
    }
    return without_none(
        {
            "id": name[0],
            "epoch": name[1],
            "input": trajectory.task,
            "target": trajectory.reference_answer or "",
            "messages": list(_messages(trajectory)),
            "output": without_none({"model": model, "choices": choices, "usage": usage}),
            "scores": {
                score: without_none({"value": own.value, "answer": answer, "explanation": own.explanation})
                for score, own in scores.items()
            },
            "metadata": without_none(about),
            "model_usage": {} if usage is None else {model: usage},
            "started_at": trajectory.started_at,
            "total_time": trajectory.duration_s,
            "uuid": trajectory.id,
        }
    )


def _events(clips: Sequence[ClipScore], messages: Sequence[JsonObject], created: str) -> list[JsonObject]:
    """A score event for each clip. A clip ends with the result of a call, so that clips and calls have one order."""
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    return [
        {
            "event": "score",
            "timestamp": created,
            "working_start": 0.0,
            "intermediate": True,
            "scorer": "clip",
            "score": without_none(
                {
                    "value": dict(clip.values),
                    "explanation": clip.explanation,
                    "metadata": without_none(
                        {
                            "clip_index": clip.index,
                            "tool_type": clip.tool_type,
                            "tool_call_id": calls[clip.index] if clip.index < len(calls) else None,
                            "judges": list(clip.judges),
                        }
                    ),
                }
            ),
        }
        for clip in clips
    ]


def _messages(trajectory: Trajectory) -> Iterator[JsonObject]:
    for agent in trajectory.agents:
        if agent.description:
            yield {"role": "system", "content": agent.description, "metadata": {"agent": agent.name or agent.id}}
    ids = CallIds()
    turns = trajectory.turns
    if trajectory.task and not any(turn.user_message for turn in turns):
        yield {"role": "user", "content": trajectory.task, "source": "input"}
    for turn in turns:
        if turn.user_message is not None:
            yield {"role": "user", "content": turn.user_message}
        for interaction in turn.interactions:
            for step in interaction.steps:
                yield from _spoken(trajectory, interaction, step, ids)


def _spoken(trajectory: Trajectory, interaction: Interaction, step: Step, ids: CallIds) -> Iterator[JsonObject]:
    call_id = None
    if step.thought is not None or step.message is not None or step.call is not None:
        content: list[JsonObject] = []
        if step.thought is not None:
            content.append({"type": "reasoning", "reasoning": trajectory.piece(step.thought)})
        if step.message is not None:
            content.append({"type": "text", "text": trajectory.piece(step.message)})
        said: JsonObject = {"role": "assistant", "content": content, "metadata": _about(interaction, step)}
        if step.call is not None:
            call_id = ids.unique(step.call.id)
            arguments = trajectory.arguments(step.call)
            raw = {"arguments": trajectory.piece(step.call.raw)}
            call = {"id": call_id, "function": step.call.name, "arguments": raw if arguments is None else arguments}
            said["tool_calls"] = [
                without_none({**call, "parse_error": "no JSON object" if arguments is None else None})
            ]
        yield said
    if step.result is not None:
        error = None if step.result.error is None else {"type": "unknown", "message": step.result.error}
        yield without_none(
            {
                "role": "tool",
                "content": trajectory.piece(step.result.content),
                "tool_call_id": call_id,
                "function": None if step.call is None else step.call.name,
                "error": error,
            }
        )


def _about(interaction: Interaction, step: Step) -> JsonObject:
    usage = None if step.usage is None else _usage(step.usage)
    return without_none({"agent": interaction.agent_id, "latency_ms": step.latency_ms, "usage": usage})


def _usage(usage: Usage) -> JsonObject:
    tokens = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None]
    return without_none(
        {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": sum(tokens),
            "input_tokens_cache_read": usage.cached_tokens,
            "total_cost": usage.recorded_cost_usd,
        }
    )


def _score_names(samples: Sequence[JsonObject]) -> list[str]:
    return list(dict.fromkeys(name for sample in samples for name in sample["scores"]))


def _result(name: str, samples: Sequence[JsonObject]) -> JsonObject:
    """The mean of a score over the samples that have it."""
    values = [_number(sample["scores"][name]["value"]) for sample in samples if name in sample["scores"]]
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "unscored_samples": len(samples) - len(values),
        "metrics": {"mean": {"name": "mean", "value": fmean(values)}},
    }


def _number(value: Any) -> float:
    return float(value == "C") if isinstance(value, str) else float(value)
