"""Judges with a metric of another package, asked about one run of an agent."""

import asyncio
import json
from typing import Any

import orjson

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.panel import JudgeSettings, Panel, judges_of, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import trajectory_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.model_server import ModelServer, prompt_text, rule

TASK, ANSWER, REFERENCE = "How many of A3 are in stock?", "Three of A3 are in stock.", "There are 3 of A3."
CALL = '<tool_call>{"name": "look_up", "arguments": {"item": "A3"}}</tool_call>\n<result>{"stock": 3}</result>\n'


def run_of(
    answer: str | None = ANSWER, reference: str | None = REFERENCE, text: str = CALL, task: str = TASK
) -> Trajectory:
    """A run that looks up the stock and answers."""
    said = text + ("" if answer is None else f"<answer>{answer}</answer>")
    fields = {"task_id": "A3", "task_description": task, "raw_response": said, "reference_answer": reference}
    return trajectory_of(Record("d.jsonl", 1, fields, orjson.dumps(fields)))


def panel(server: ModelServer | None, evaluator: dict[str, Any], **more: Any) -> Panel:
    """A panel of one judge; without a server the metric has no model."""
    model: dict[str, Any] = {"provider": "python"}
    if server is not None:
        model = {
            "provider": "openai_compatible",
            "model": "m",
            "base_url": server.openai_url,
            "api_key_env": "TEST_KEY",
        }
        model |= {"timeouts": {"first_backoff_s": 0.01}, "price": {"input": 1.0, "output": 10.0}}
    return panel_of({"judges": [{"name": "one", "evaluator": evaluator, **model, **more}]}, "panel.yaml")


def judge_of(server: ModelServer | None, url: str, evaluator: dict[str, Any], **more: Any) -> Judge:
    """The judge of that panel, with its ledger at `url`."""
    return judges_of(panel(server, evaluator, **more), url)[0]


def verdict_of(
    judge: Judge, run: Trajectory | None = None, run_id: str = "run", budget: float | None = None
) -> Verdict:
    """The judge's only verdict on the run."""

    async def judged() -> list[Verdict]:
        whole = run_of() if run is None else run
        chain = trajectory_chain(whole, clips_of(whole), load_rubrics())
        async with judge.opened(run_id, Budget(budget)) as ready:
            chains = judge.selection.chains([chain])
            return [each.verdict async for some in judge_chains(ready, chains) for each in some]

    (found,) = asyncio.run(judged())
    return found


def replies(server: ModelServer, *values: dict[str, Any] | str) -> None:
    """Let the model reply these in turn, the last one for ever."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    server.script([rule("text", text=text, times=1) for text in texts[:-1]] + [rule("text", text=texts[-1])])


def prompts(server: ModelServer) -> list[str]:
    """What the model was asked."""
    return [prompt_text(asked.body) for asked in server.requests()]


__all__ = ["JudgeSettings", "judge_of", "panel", "prompts", "replies", "run_of", "verdict_of"]
