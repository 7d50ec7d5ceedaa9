"""What the analysis of a failed session says about who decided the failure, and in which step."""

from collections.abc import Mapping

from evaluation_assets.core.sections.sessions import attribution
from evaluation_assets.core.sections.sessions.analysis import FailureAttribution, SuspectStep
from evaluation_assets.core.sections.sessions.decisive import decisive_step
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence

PanelMeans = Mapping[str, Mapping[str, float]]
"""Mean judged score by criterion, for each subject (`session`, `turn/0`, `turn/0/interaction/1`)."""

_SUSPECTS = 10


def attribution_of(seen: SessionEvidence, means: PanelMeans) -> FailureAttribution | None:
    """The attribution of a failed session, given the mean scores of its judges; `None` if nobody acted."""
    if not seen.parts:
        return None
    soundness = {part.name: means.get(part.name, {}).get("soundness") for part in seen.parts}
    attributed = attribution.attribute(
        seen.trajectory,
        issues=seen.issues,
        progress=seen.progress,
        ungrounded=seen.ungrounded,
        repeated=seen.repeated,
        handed_over=list(seen.handoffs.values()),
        soundness={name: score for name, score in soundness.items() if score is not None},
    )
    suspects = sorted(attributed.suspects, key=lambda suspect: -suspect.probability)
    return FailureAttribution(
        agents=dict(attributed.agents),
        steps=[
            SuspectStep(
                **suspect.interaction.place(suspect.step),
                probability=suspect.probability,
                evidence=list(suspect.evidence),
            )
            for suspect in suspects[:_SUSPECTS]
        ],
        steps_total=len(suspects),
        baselines={
            "most_frequent_speaker": dict(attribution.most_frequent_speaker(seen.trajectory)),
            "last_agent": dict(attribution.last_agent(seen.trajectory)),
            "random": dict(attribution.random_agent(seen.trajectory)),
        },
        decisive=decisive_step(seen.trajectory),
    )
