"""Ask a judge about labelled trajectories, as it is and with worked examples, and compare it with people."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from statistics import fmean

from evaluation_assets.core.judging.asking import Step, judge_all
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Example, Rubric, Rubrics
from evaluation_assets.core.judging.score_map import ScoreMap, counts_as
from evaluation_assets.core.judging.shown_texts import ShownText
from evaluation_assets.core.judging.stored_chains import JUDGED_TABLES
from evaluation_assets.core.judging.subjects import Chain, chain_of
from evaluation_assets.core.judging.windows import cut_in_the_middle
from evaluation_assets.core.models.redaction.redactor import NotRedacted
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline.checks.judging import MIN_COVERAGE
from evaluation_assets.core.review.alignment import Alignment, Judged, State, aligned, check_labels, decides, fitted_map
from evaluation_assets.core.review.labels import PASSED, Label
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.nullable import mean_label
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets.core.traces.trajectories.identity import digest

_EXAMPLES = 4
"""More would make every later prompt longer."""

_TASK_BYTES, _WORK_BYTES, _REASON_BYTES = 500, 2000, 500

Samples = Sequence[float]
"""The mean scores of a judge's verdicts on a run; several where it repeats itself, none where it gave no score."""


class NotJudged(UserError, ValueError):
    """The judge has to judge a drop first; the message says how."""


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A trajectory that people labelled, as a judge is asked about it. `label` is the mean of theirs."""

    chain: Chain
    label: float
    reason: str

    @property
    def task(self) -> str:
        """Its task, in whatever drop."""
        return self.chain.trajectory.task_id


@dataclass(frozen=True, slots=True)
class Asked:
    """What a judge said about labelled runs: as it is about all, and with examples about those that decide.

    `rubric` is the one with examples; `None` if there are none to show.
    """

    runs: Sequence[LabelledRun]
    before: Sequence[Samples]
    rubric: Rubric | None
    after: Sequence[Samples]


@dataclass(frozen=True, slots=True)
class Changes:
    """The comparison, and the changes that it is about."""

    alignment: Alignment
    score_map: ScoreMap
    rubric: Rubric | None


def labelled_runs(home: Installation, judge: Judge, labels: Iterable[Label], rubrics: Rubrics) -> list[LabelledRun]:
    """The runs with labels of the whole trajectory that the judge is asked about.

    Raises:
        NotJudged: a question shows the judge's own scores of clips, and it has not judged those of a drop.
    """
    by_drop: dict[str, dict[str, list[Label]]] = {}
    for label in labels:
        if label.criterion == PASSED and label.clip_index is None:
            by_drop.setdefault(label.drop, {}).setdefault(label.trajectory_id, []).append(label)
    for drop in sorted(by_drop):
        is_shown_scores = "clip" in judge.selection.levels and home.table(drop, "clips").exists
        if is_shown_scores and not home.table(drop, "clip_verdicts", judge.name).exists:
            raise NotJudged(
                f"judge {judge.name} has not judged drop {drop}, which has labels; run "
                f"{home.command('evaluate', drop, '--judge', judge.name)}"
            )
    return [
        LabelledRun(whole, label, next((each.comment for each in own if each.comment), ""))
        for drop, of_runs in sorted(by_drop.items())
        for chain in JUDGED_TABLES["trajectory"].chains(home, drop, judge.name, rubrics)
        if (own := of_runs.get(chain.trajectory.id))
        and (label := mean_label([each.label for each in own])) is not None
        and (whole := _whole(judge, chain)) is not None
    ]


def _whole(judge: Judge, chain: Chain) -> Chain | None:
    """The question about the whole trajectory alone, word for word as an evaluation asks it."""
    chosen = judge.selection.chain(chain)
    whole = [] if chosen is None else [subject for subject in chosen.subjects if subject.level == "trajectory"]
    return chain_of(chain.trajectory, whole, chain.own) if whole else None


async def ask(
    ready: Judge,
    step: Step,
    runs: Sequence[LabelledRun],
    pass_score: float,
    redactions: Sequence[Redaction] | None,
) -> Asked:
    """Ask an open judge, which has no map, about labelled runs.

    Args:
        ready: The judge.
        step: Called after each run.
        runs: All labelled runs.
        pass_score: The score from which a run passes.
        redactions: What is replaced in examples, one after the other; `None` where the judge cannot be shown examples.
    """
    before = await _scores(ready, step, [run.chain for run in runs])
    if redactions is None:
        return Asked(runs, before, None, ())
    made_from = [(run, fmean(own)) for run, own in zip(runs, before, strict=True) if own and not decides(run.task)]
    examples = tuple(_examples(made_from, pass_score, redactions))
    if not examples:
        return Asked(runs, before, None, ())
    old = runs[0].chain.subjects[0].rubric
    rubric = old.model_copy(update={"version": old.version + 1, "examples": examples})
    deciding = [_with_rubric(run.chain, rubric) for run in runs if decides(run.task)]
    return Asked(runs, before, rubric, await _scores(ready, step, deciding))


async def _scores(ready: Judge, step: Step, chains: Sequence[Chain]) -> list[Samples]:
    samples: list[Samples] = []
    async for judgements in judge_all(ready, chains, step):
        given = ([score for score in each.verdict.scores.values() if score is not None] for each in judgements)
        samples.append([fmean(scores) for scores in given if scores])
    return samples


def _with_rubric(chain: Chain, rubric: Rubric) -> Chain:
    return replace(
        chain,
        subjects=tuple(
            replace(
                subject,
                rubric=rubric,
                chain_rubrics=tuple(rubric if each == subject.rubric else each for each in subject.chain_rubrics),
            )
            for subject in chain.subjects
        ),
    )


def _examples(
    runs: Iterable[tuple[LabelledRun, float]], pass_score: float, redactions: Sequence[Redaction]
) -> Iterator[Example]:
    """The runs on which judge and people disagree most: one of a task, too lenient and too harsh scores in turn.

    Those that people gave a reason for come first. A run that cannot be redacted is left out.
    """
    wrong = [(run, score) for run, score in runs if (score >= pass_score) != (run.label >= 0.5)]
    wrong.sort(
        key=lambda each: (not each[0].reason, -abs(each[1] - each[0].label), digest(each[0].chain.trajectory.id))
    )
    of_task: dict[str, tuple[LabelledRun, float]] = {}
    for each in wrong:
        of_task.setdefault(each[0].task, each)
    lenient = [each for each in of_task.values() if each[1] >= pass_score]
    harsh = [each for each in of_task.values() if each[1] < pass_score]
    left = _EXAMPLES
    for run, score in (each for pair in zip_longest(lenient, harsh) for each in pair if each is not None):
        try:
            example = _example(run, score, redactions)
        except NotRedacted:
            continue
        yield example
        left -= 1
        if not left:
            return


def _example(run: LabelledRun, score: float, redactions: Sequence[Redaction]) -> Example:
    trajectory = run.chain.trajectory
    shows = [ShownText(trajectory, redaction) for redaction in redactions]

    def shown(text: str, limit: int) -> str:
        for show in shows:
            text = show(text)
        return cut_in_the_middle(text, limit)

    task, work = shown(trajectory.task, _TASK_BYTES), shown(trajectory.text, _WORK_BYTES)
    return Example(
        work=f"[task]\n{task}\n[work]\n{work}",
        label=run.label,
        score=score,
        reason=shown(run.reason, _REASON_BYTES),
    )


def compare(asked: Asked, judge: Judge, own_map: ScoreMap, pass_score: float) -> Changes:
    """Compare the judge as it is, with `own_map` if it has one, with the changes.

    Raises:
        TooFewLabels: too few of the labelled runs have scores.
    """
    scored = [(run, own) for run, own in zip(asked.runs, asked.before, strict=True) if own]
    check_labels([run.label for run, _ in scored], [run.task for run, _ in scored])
    made_from = [(run, own) for run, own in scored if not decides(run.task)]
    points = fitted_map([fmean(own) for _, own in made_from], [run.label for run, _ in made_from])
    deciding = [(run, own) for run, own in zip(asked.runs, asked.before, strict=True) if decides(run.task)]
    after = asked.after or [()] * len(deciding)
    has_examples = sum(bool(own) for own in asked.after) >= MIN_COVERAGE * len(deciding)
    known = [
        (run, own, changed)
        for (run, own), changed in zip(deciding, after, strict=True)
        if own and (changed or not has_examples)
    ]

    def passed(samples: Iterable[Samples], count: ScoreMap) -> list[bool]:
        return [fmean(counts_as(score, count) for score in own) >= pass_score for own in samples]

    said: dict[State, list[bool]] = {
        "none": passed((own for _, own, _ in known), own_map),
        "map": passed((own for _, own, _ in known), points),
    }
    if has_examples:
        said["examples"] = passed((changed for *_, changed in known), own_map)
    judged = Judged([run.label for run, *_ in known], [run.task for run, *_ in known], said)
    return Changes(aligned(judged, judge.version), points, asked.rubric)
