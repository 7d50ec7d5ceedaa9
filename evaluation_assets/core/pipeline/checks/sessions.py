"""Whether sessions were judged, and whether agents kept to their tools and to each other in them."""

from collections.abc import Callable
from statistics import fmean

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.scoring.analysed_sessions import PANEL, Row
from evaluation_assets.core.sections.sessions.session_scores import LOW
from evaluation_assets.core.text.counted import counted

MIN_JUDGED = 0.9
"""Minimum share of responses that must be judged."""

MIN_COORDINATION = LOW
"""Mean coordination score of sessions with several agents below which the check warns."""


def sessions_judged(analyses: Stored, asked: Callable[[str], bool] = lambda _: True) -> Finding:
    """Whether enough responses were judged in the sessions that a judge is `asked` about, by the session's ID.

    Without such sessions there is nothing to judge.
    """
    of_drop = _of_the_panel(analyses, ["session_id", "responses", "judged_responses"])
    rows = [row for row in of_drop if asked(row["session_id"])]
    if of_drop and not rows:
        return Finding(True, "Not asked: no judge of the panel is asked about the turns of sessions.", {"responses": 0})
    responses, judged = sum(row["responses"] for row in rows), sum(row["judged_responses"] for row in rows)
    share = judged / responses if responses else None
    return Finding(
        share is None or share >= MIN_JUDGED,
        f"{judged} of {responses} responses were judged (minimum {MIN_JUDGED:.0%})."
        if responses
        else "No session has a response to judge.",
        {"responses": responses, "judged": judged, **({} if share is None else {"judged_share": share})},
    )


def unauthorised_calls(analyses: Stored) -> Finding:
    """Whether agents called only tools that they have. Agents whose tools are unknown cannot fail this."""
    rows = _of_the_panel(analyses, ["unauthorized_calls"])
    calls = sum(row["unauthorized_calls"] for row in rows)
    affected = sum(row["unauthorized_calls"] > 0 for row in rows)
    return Finding(
        not calls,
        f"Agents called tools that they do not have {counted(calls, 'time')}, "
        f"in {affected} of {counted(len(rows), 'session')}."
        if calls
        else f"No agent called a tool that it does not have, in {counted(len(rows), 'session')}.",
        {"calls": calls, "sessions": affected},
        "warn",
    )


def coordinated(analyses: Stored) -> Finding:
    """Whether agents work together well enough. Sessions of one agent have no coordination."""
    rows = _of_the_panel(analyses, ["session_id", "coordination_score"])
    scores = {row["session_id"]: row["coordination_score"] for row in rows if row["coordination_score"] is not None}
    mean = fmean(scores.values()) if scores else None
    return Finding(
        mean is None or mean >= MIN_COORDINATION,
        "No session has several agents."
        if mean is None
        else f"How well agents keep to their roles and pass on what they learn is scored {mean:.3f}, 0 to 1, over "
        f"{counted(len(scores), 'session')}; below {MIN_COORDINATION} this warns. Lowest: "
        f"{min(scores, key=lambda session: scores[session])}; the report's section Sessions says what to change.",
        {"sessions": len(scores), **({} if mean is None else {"coordination": mean})},
        "warn",
    )


def _of_the_panel(analyses: Stored, columns: list[str]) -> list[Row]:
    return [row for row in analyses.rows(["analyst", *columns]) if row["analyst"] == PANEL]
