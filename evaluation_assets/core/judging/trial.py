"""`panel test`: make one real call to every judge of a panel."""

import logging
import tempfile
import uuid
from contextlib import ExitStack
from pathlib import Path

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.panel import Panel, judges_of
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.subjects import clip_chain, trajectory_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models import client
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.traces.trajectories.model import Agent, Interaction, Step, Trajectory, Turn

_CLIENT = logging.getLogger(client.__name__)
_TEXT = "<think>Seven times six is forty-two.</think><answer>42</answer>"


async def try_panel(panel: Panel, rubrics: Rubrics) -> list[tuple[str, Verdict]]:
    """Every judge's verdict on a tiny answer. Its ledger is thrown away: the call is a real one each time.

    The verdict says why a call failed, so that the client does not.
    """
    step = Step(start=0, end=len(_TEXT), thought=(7, 33))
    trajectory = Trajectory(
        id="trial",
        task_id="trial",
        format="tagged",
        task="What is six times seven?",
        text=_TEXT,
        agents=(Agent(id="agent"),),
        turns=(Turn(interactions=(Interaction(agent_id="agent", steps=(step,)),)),),
        final_answer="42",
        reference_answer="42",
    )
    clips = clips_of(trajectory)
    chains = (clip_chain(trajectory, clips, rubrics), trajectory_chain(trajectory, clips, rubrics))
    subjects = [subject for chain in chains for subject in chain.subjects]
    verdicts: list[tuple[str, Verdict]] = []
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        stack.callback(_CLIENT.setLevel, _CLIENT.level)
        _CLIENT.setLevel(logging.ERROR)
        for judge in judges_of(panel, f"sqlite:///{Path(folder) / 'trial.sqlite'}"):
            levels = judge.selection.levels
            subject = next((subject for subject in subjects if subject.level in levels), subjects[0])
            async with judge.opened(uuid.uuid4().hex, Budget()) as ready:
                verdicts.append((judge.name, await ready.judge(subject, [])))
    return verdicts
