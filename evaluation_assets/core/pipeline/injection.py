"""Judges and detectors on runs with planted faults, each beside the run that it was made of."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.clips.tool_types import ToolTypes
from evaluation_assets.core.judging.asking import Step, judge_all
from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.rubrics.model import Level, Rubrics
from evaluation_assets.core.judging.selection import Selection
from evaluation_assets.core.judging.subjects import Chain, clip_chain, trajectory_chain
from evaluation_assets.core.scoring.discrimination import Noticed
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.evidence.call_forms import CallForms
from evaluation_assets.core.sections.findings.faults.operator import NotApplicable, Operator, Pair, injected
from evaluation_assets.core.sections.findings.finding import Finding, Place
from evaluation_assets.core.sections.findings.gathering import findings_of
from evaluation_assets.core.sections.findings.process_score import process_score, weight
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import Span, Trajectory

Detect = Callable[[Trajectory], Iterable[Finding]]


@dataclass(slots=True)
class Pairs:
    """Runs with their changed copies; `not_applicable` counts by operator why runs have none."""

    runs: int = 0
    pairs: list[Pair] = field(default_factory=list)
    not_applicable: dict[str, Counter[str]] = field(default_factory=dict)

    def trajectories(self) -> list[Trajectory]:
        """Every run, followed by its changed copies."""
        by_run: dict[str, list[Trajectory]] = {}
        for pair in self.pairs:
            by_run.setdefault(pair.original.id, [pair.original]).append(pair.changed)
        return [trajectory for of_run in by_run.values() for trajectory in of_run]


def pairs_of(runs: Iterable[Trajectory], operators: Sequence[Operator], seed: int) -> Pairs:
    """Apply all operators to all runs."""
    pairs = Pairs(not_applicable={operator.name: Counter() for operator in operators})
    for run in runs:
        pairs.runs += 1
        for operator in operators:
            try:
                pairs.pairs.append(injected(run, operator, seed))
            except NotApplicable as reason:
                pairs.not_applicable[operator.name][str(reason)] += 1
    return pairs


def chosen_runs(runs: Iterable[Trajectory], most: int, seed: int) -> list[Trajectory]:
    """At most so many of the runs, drawn by seed and ID, in their order."""
    listed = list(runs)
    drawn = sorted(range(len(listed)), key=lambda at: digest(str(seed), listed[at].id))[:most]
    return [listed[at] for at in sorted(drawn)]


@dataclass(frozen=True, slots=True)
class RunScore:
    """The score of a run by one judge: `whole` from the criteria of the whole run.

    `clips` are the scores by the start and end of each clip; `wrong` the clips that a quick judge named.
    """

    whole: float | None = None
    clips: Mapping[Span, float] = field(default_factory=dict)
    wrong: frozenset[Span] | None = None


_LEVELS: tuple[Level, ...] = ("clip", "trajectory")


async def judge_pairs(
    ready: Judge, step: Step, pairs: Pairs, rubrics: Rubrics, types: ToolTypes
) -> list[tuple[Operator, Noticed]]:
    """What an open judge makes of all pairs. It is asked about clips and whole runs, as far as it is asked them."""
    runs = pairs.trajectories()
    chains = (chain for trajectory in runs for chain in _chains(ready.selection, trajectory, rubrics, types))
    scores: dict[str, RunScore] = {}
    async for judgements in judge_all(ready, chains, step):
        if judgements:
            name = judgements[0].subject.trajectory.id
            scores[name] = _score(judgements, scores.get(name, RunScore()))
    return list(judged_pairs(pairs.pairs, scores))


def asked_about_runs(selection: Selection) -> tuple[Level, ...]:
    """The levels at which a judge with this selection gives a run a score; none if it gives it none."""
    return ("trajectory",) if selection.is_quick else tuple(level for level in _LEVELS if level in selection.levels)


def _chains(selection: Selection, trajectory: Trajectory, rubrics: Rubrics, types: ToolTypes) -> Iterator[Chain]:
    clips = clips_of(trajectory, types)
    for level in asked_about_runs(selection):
        if level == "clip":
            yield clip_chain(trajectory, clips, rubrics)
            continue
        whole = trajectory_chain(trajectory, clips, rubrics)
        yield Selection(levels=frozenset({level}), is_quick=selection.is_quick).chain(whole) or whole


def _score(judgements: Sequence[Judgement], known: RunScore) -> RunScore:
    """What is known of a run, with what the judgements on its clips or on all of it say."""
    scores: dict[str, list[float]] = {}
    wrong, whole = known.wrong, known.whole
    spans: dict[str, Span] = {}
    for each in judgements:
        subject, verdict = each.subject, each.verdict
        given = [score for score in verdict.scores.values() if score is not None]
        if verdict.outcome == "scored" and given:
            scores.setdefault(subject.name, []).append(fmean(given))
        if subject.level == "clip":
            spans[subject.name] = (subject.focus[0].start, subject.focus[0].end)
        if verdict.wrong_clips is not None:
            wrong = frozenset((clip.start, clip.end) for clip in subject.clips if clip.index in verdict.wrong_clips)
    means = {name: fmean(samples) for name, samples in scores.items()}
    clips = {spans[name]: mean for name, mean in means.items() if name in spans}
    if means and not clips:
        whole = fmean(means.values())
    return RunScore(whole, {**known.clips, **clips}, wrong)


def _scores(before: RunScore, after: RunScore) -> tuple[float, float] | None:
    """The scores of both runs: of the whole runs, else the means of their clips; `None` where either has none.

    The mean of its clips says little of a run from which some are missing: it rises where these were below it.
    """
    if before.whole is not None and after.whole is not None:
        return before.whole, after.whole
    if before.clips and after.clips:
        return fmean(before.clips.values()), fmean(after.clips.values())
    return None


def judged_pairs(pairs: Sequence[Pair], scores: Mapping[str, RunScore]) -> Iterator[tuple[Operator, Noticed]]:
    """What a judge made of each pair that it scored both runs of."""
    for pair in pairs:
        before, after = scores.get(pair.original.id), scores.get(pair.changed.id)
        if before is None or after is None or (compared := _scores(before, after)) is None:
            continue
        is_found = None if pair.operator.is_control else _is_found(pair, before, after)
        was, now = compared
        yield pair.operator, Noticed(cluster=pair.original.task_id, before=was, after=now, is_found=is_found)


def _is_found(pair: Pair, before: RunScore, after: RunScore) -> bool | None:
    """Whether the clips of the fault score below those at the same place before, or were named and were not before."""
    was, now = region(pair.original, pair.origin), region(pair.changed, pair.place)
    if before.wrong is not None and after.wrong is not None:
        return any(map(_overlap(now), after.wrong)) and not any(map(_overlap(was), before.wrong))
    if not before.clips and not after.clips:
        return None
    old = [score for clip, score in before.clips.items() if _overlap(was)(clip)]
    new = [score for clip, score in after.clips.items() if _overlap(now)(clip)]
    return bool(old and new) and fmean(new) < fmean(old)


def _overlap(one: Span) -> Callable[[Span], bool]:
    return lambda other: other[0] < max(one[1], one[0] + 1) and one[0] < other[1]


def region(trajectory: Trajectory, place: Place) -> Span:
    """The part of the text that a place is; all of it where it is not narrowed down."""
    if place.span is not None:
        return place.span
    if place.turn is None:
        return 0, len(trajectory.text)
    before = [step for turn in trajectory.turns[: place.turn] for part in turn.interactions for step in part.steps]
    parts = trajectory.turns[place.turn].interactions
    if place.interaction is not None:
        before += [step for part in parts[: place.interaction] for step in part.steps]
        parts = parts[place.interaction : place.interaction + 1]
    steps = [step for part in parts for step in part.steps]
    if place.step is not None:
        steps = steps[place.step : place.step + 1]
    start = before[-1].end if before else 0
    return (steps[0].start, steps[-1].end) if steps else (start, len(trajectory.text))


def detected_pairs(pairs: Sequence[Pair], detect: Detect) -> Iterator[tuple[Operator, Noticed]]:
    """What detectors find in each pair: whether a run has a finding of a kind that the fault can be found as.

    A run that had such a finding before says nothing, so that who flags everything notices nothing. In a control, every
    kind that the run did not have is a false alarm.
    """
    originals: dict[str, list[Finding]] = {}
    for pair in pairs:
        if pair.original.id not in originals:
            originals[pair.original.id] = list(detect(pair.original))
        before, after = originals[pair.original.id], list(detect(pair.changed))
        task = pair.original.task_id
        if pair.operator.is_control:
            old, new = ({finding.kind for finding in findings} for findings in (before, after))
            gone, new = (float(bool(ones - others)) for ones, others in ((old, new), (new, old)))
            yield pair.operator, Noticed(cluster=task, before=new, after=0.0 if new else gone)
            continue
        kinds = pair.operator.kinds
        is_flagged = any(finding.kind in kinds for finding in after)
        was_flagged = any(finding.kind in kinds for finding in before)
        is_found = any(finding.kind in kinds and _is_at(finding.place, pair.place) for finding in after)
        was_found = any(finding.kind in kinds and _is_at(finding.place, pair.origin) for finding in before)
        yield (
            pair.operator,
            Noticed(
                cluster=task,
                before=float(not was_flagged),
                after=float(not is_flagged),
                is_found=is_found and not was_found,
                is_flagged=is_flagged,
            ),
        )


def by_findings(pairs: Pairs) -> dict[str, list[tuple[Operator, Noticed]]]:
    """What `detectors` and the `process_score` make of all pairs, by the findings of detectors and of how runs ended.

    A changed copy is seen in the drop in the place of its run.
    """
    originals = {pair.original.id: pair.original for pair in pairs.pairs}
    forms = CallForms.of(originals.values())
    findings = {run.id: findings_of(run, detected(run, forms)) for run in originals.values()}
    for pair in pairs.pairs:
        own = forms.with_replaced(pair.original, pair.changed)
        findings[pair.changed.id] = findings_of(pair.changed, detected(pair.changed, own))
    return {
        "detectors": list(detected_pairs(pairs.pairs, lambda trajectory: findings[trajectory.id])),
        "process_score": list(_scored_pairs(pairs.pairs, findings)),
    }


def _scored_pairs(
    pairs: Sequence[Pair], findings: Mapping[str, Sequence[Finding]]
) -> Iterator[tuple[Operator, Noticed]]:
    """The process scores of each pair that has both. A place is found if more weighs on it than before."""
    for pair in pairs:
        old, new = findings[pair.original.id], findings[pair.changed.id]
        before, after = process_score(pair.original, old).score, process_score(pair.changed, new).score
        if before is None or after is None:
            continue
        is_found = None if pair.operator.is_control else _weight_at(pair.place, new) > _weight_at(pair.origin, old)
        yield pair.operator, Noticed(cluster=pair.original.task_id, before=before, after=after, is_found=is_found)


def _weight_at(place: Place, findings: Sequence[Finding]) -> float:
    return sum(weight(finding) for finding in findings if _is_at(finding.place, place))


def _is_at(reported: Place, planted: Place) -> bool:
    """Whether a finding is where the fault is: in its turn, interaction and step as far as the fault is in one."""
    wanted = (planted.turn, planted.interaction, planted.step)
    given = (reported.turn, reported.interaction, reported.step)
    return all(want is None or want == have for want, have in zip(wanted, given, strict=True))
