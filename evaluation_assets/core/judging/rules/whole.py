"""Rules about whole trajectories and their answers: each gives points for what is seen, and says why."""

import re

from evaluation_assets.core.judging.rules.evidence import Evidence, is_cut_off
from evaluation_assets.core.judging.rules.findings import Finding, points_for
from evaluation_assets.core.suites.answers import AGREES, agreement
from evaluation_assets.core.suites.courtesies import without_courtesies
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.words import are_comparable, words

_GAVE_UP = re.compile(
    r"\b(?:unable|not able|failed) to (?:find|locate|determine|identify|answer|solve|complete|finish|retrieve|obtain)"
    r"|\b(?:can(?:no|')t|can not|could(?: not|n't)) (?:be )?"
    r"(?:find|found|locate|determine|identify|answer|solve|complete|finish)"
    r"|\bnot_found\b|\bno (?:reliable |relevant )?information (?:was )?(?:found|available)\b"
    r"|\ban? (?:\w+ )?error (?:has )?occurred\b|\btask (?:incomplete|failed|(?:was |is )?not completed?)\b"
    r"|\bmax(?:imum)? (?:iterations|steps)\b"
    r"|无法(?:找到|确定|回答|提供|完成|得出)|未能(?:找到|确定|完成)|没有找到",
    re.IGNORECASE,
)
"""How answers say that their task was not done.

Not `suites.refusals`: there declining counts too, which is right for tasks that expect an answer. A judge may not hold
it against an agent, because some tasks have to be declined; and its reason quotes the words that were found.
"""


_DIFFERS = "the answer has nothing of the reference, or states something else"
_UNCLEAR = "it cannot be told whether the answer means the reference"


def task_completion(whole: Evidence) -> Finding:
    """Whether the answer delivers what was asked, where something shows it."""
    return completion(whole.trajectory, whole.answer)


def completion(trajectory: Trajectory, answer: str) -> Finding:
    """Whether a run did its task: by its reference answer, by how it ended, and by what it says; else not scored.

    Without a reference answer it is not scored. Then only failures can be seen, and the mean of a criterion that is
    scored only when it is low says nothing about the runs. The reason names what was seen.

    The recorded outcome is no evidence here: judges never see it, so that they can be measured against it. Declining is
    none either, because some tasks have to be declined.
    """
    reference, said = trajectory.reference_answer, without_courtesies(answer)
    if reference is None:
        seen = _unfinished(trajectory, answer) or _gave_up(said) or _nothing_seen()
        return Finding(None, f"{seen.reason}; success cannot be seen without a reference answer")
    found = agreement(reference, answer)
    if found in AGREES:
        return _unfinished(trajectory, answer) or Finding(9, f"the answer {found} the reference")
    wrong = Finding(1, _DIFFERS) if found == "differs" else Finding(None, _UNCLEAR)
    return _unfinished(trajectory, answer) or _gave_up(said) or wrong


def _unfinished(trajectory: Trajectory, answer: str) -> Finding | None:
    if not answer.strip():
        return Finding(0, "there is no answer" + (": the run was cut off" if is_cut_off(trajectory) else ""))
    if is_cut_off(trajectory):
        return Finding(3, "the run was cut off before its own end")
    return None


def _gave_up(said: str) -> Finding | None:
    gave_up = _GAVE_UP.search(said[:600])
    return None if gave_up is None else Finding(2, f"the answer says that the task was not done: {gave_up.group()!r}")


def _nothing_seen() -> Finding:
    return Finding(None, "nothing shows whether the task was done: there is an answer, and the run came to its end")


def response_quality(whole: Evidence) -> Finding:
    """An answer in words, in the language of the task, without leftovers of tags."""
    if not whole.answer:
        return Finding(0, "there is no answer")
    if re.search(r"</?(?:think|result|execute_tools|answer|tool_call)\b", whole.answer):
        return Finding(3, "the answer holds leftovers of tool or reasoning tags")
    if not are_comparable(words(whole.said), words(whole.trajectory.task)):
        return Finding(None, "the answer is in another script than the task; whether that is wanted was not judged")
    return Finding(7, "there is an answer without leftovers; its wording was not judged")


def reasoning_coherence(whole: Evidence) -> Finding:
    """Whether the answer's figures and words come from somewhere."""
    if not whole.answer:
        return Finding(None, "there is no answer to trace back")
    if not whole.steps or not any(step.thought or step.result for step in whole.steps):
        return Finding(None, "there is neither reasoning nor a result to trace the answer to")
    if whole.figures:
        known = whole.known_figures
        if known < len(whole.figures) and not whole.answer_is_comparable:
            return Finding(
                None, "the answer is in another script than results and reasoning, and its figures may be, too"
            )
        points = points_for(known / len(whole.figures), (1, 8), (0.75, 6), (0.5, 4), below=2)
        return Finding(points, f"{known} of {len(whole.figures)} figures in the answer occur in results or reasoning")
    seen = whole.answer_words_seen
    if seen is None:
        return Finding(None, "the answer has no words that can be compared with results and reasoning")
    points = points_for(seen, (0.7, 8), (0.4, 6), (0.2, 4), below=2)
    return Finding(points, f"{seen:.0%} of the answer's words occur in the task, results or reasoning")


def problem_resolution(whole: Evidence) -> Finding:
    """Whether anything stayed broken at the end."""
    if whole.cut_off:
        return Finding(1, "the run was cut off before its own end")
    if not whole.answer:
        return Finding(0, "there is no answer")
    failures = sum(call.error is not None for call in whole.calls)
    if whole.last_failure_open:
        return Finding(3, f"the last call failed and an answer was given anyway; {failures} failures in total")
    if failures:
        return Finding(7, f"{failures} calls failed, the last one worked")
    return Finding(8, "no call failed and there is an answer")


def agreement_with_reference(whole: Evidence) -> Finding:
    """Whether the answer is the reference or states it, where that can be told."""
    reference = whole.trajectory.reference_answer
    if reference is None:
        return Finding(None, "there is no reference answer")
    if not whole.answer:
        return Finding(0, "there is no answer")
    found = agreement(reference, whole.answer)
    if found in AGREES:
        return Finding(10 if found == "equals" else 9, f"the answer {found} the reference")
    return Finding(1, _DIFFERS) if found == "differs" else Finding(None, _UNCLEAR)


def conciseness(whole: Evidence) -> Finding:
    """Length of the answer, and how much of it says the same again."""
    if not whole.answer:
        return Finding(None, "there is no answer")
    lines = [line.strip() for line in whole.said.splitlines() if line.strip()]
    repeated = len(lines) - len(set(lines))
    if repeated > len(lines) / 3:
        return Finding(1, f"{repeated} of {len(lines)} lines of the answer are repeats")
    length = len(whole.said)
    points = 3 if length > 6000 else 6 if length > 2000 else 8
    return Finding(points, f"the answer has {length} characters beside courtesies")
