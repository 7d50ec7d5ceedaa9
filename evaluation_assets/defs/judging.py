"""[judging] One verdict table per judge at every level; the judges of a level run side by side in one event loop."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import SESSION_LEVELS, Level, Rubrics
from evaluation_assets.core.judging.stored_chains import (
    category_chains,
    clip_chains,
    illustrated,
    session_chains,
    trajectory_chains,
)
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.lake.tables import (
    CATEGORY_VERDICTS,
    CLIP_VERDICTS,
    IMAGES,
    SESSION_VERDICTS,
    TRAJECTORY_VERDICTS,
    Table,
)
from evaluation_assets.core.pipeline.checks.judging import MIN_COVERAGE, MIN_TEXT_SEEN, coverage, text_seen
from evaluation_assets.core.pipeline.verdicts import PanelRun
from evaluation_assets.defs.cascading import Cascading
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import COVERAGE, TEXT_SEEN
from evaluation_assets.defs.per_judge import chosen_judges, judges_stage, results_of
from evaluation_assets.defs.stage import Result, Stage

CHECKS = {
    COVERAGE: f"The judge scored, or abstained with a reason on, at least {MIN_COVERAGE:.0%} of the subjects.",
    TEXT_SEEN: f"The judge was shown at least {MIN_TEXT_SEEN:.0%} of the subjects' text.",
}


def judging_assets(judges: Sequence[Judge], rubrics: Rubrics, cascading: Cascading = Cascading()) -> list[Stage]:
    """The levels: clips, categories, trajectories, and sessions with their turns and interactions.

    What a judge says at a level hangs on what was ingested and on its own verdicts of the levels below. Which subjects
    it is asked about hangs, in a cascade, on what earlier stages said at this level.
    """
    ingested = ("preprocessed_trajectories", "clips")
    clips, categories = (CLIP_VERDICTS,), (CLIP_VERDICTS, CATEGORY_VERDICTS)
    whole: tuple[Level, ...] = ("trajectory", "answer")
    return [
        _level(CLIP_VERDICTS, ("clip",), ingested, (), clip_chains, judges, rubrics, cascading),
        _level(CATEGORY_VERDICTS, ("category",), ingested, clips, category_chains, judges, rubrics, cascading),
        _level(TRAJECTORY_VERDICTS, whole, ingested, categories, trajectory_chains, judges, rubrics, cascading),
        _level(SESSION_VERDICTS, SESSION_LEVELS, ingested[:1], (), session_chains, judges, rubrics, cascading),
    ]


def _level(
    table: Table,
    levels: tuple[Level, ...],
    ingested: tuple[str, ...],
    own: tuple[Table, ...],
    chains_of: Callable[..., Iterator[Chain]],
    judges: Sequence[Judge],
    rubrics: Rubrics,
    cascading: Cascading,
) -> Stage:
    """The stage of a level. `chains_of` makes a judge's chains of what was ingested, its own tables and the rubrics."""
    versions = ",".join(version for level in levels for version in rubrics.versions(level).values())

    @judges_stage(
        table=table,
        judges=judges,
        shared=ingested,
        own=own,
        code_version=lambda judge: (
            "|".join(filter(None, (judge.version, versions, judge.selection.described(levels))))
            + cascading.version(judge.name)
        ),
        description=lambda judge: f"Each row is {table.row}: {judge.name} ({judge.provider}, {judge.model}).",
        checks=CHECKS,
    )
    async def judge_level(drop: DropRun) -> AsyncIterator[Result]:

        def chains(judge: Judge) -> Iterator[Chain]:
            below = [drop.table(each.name, judge.name) for each in own]
            every = chains_of(*drop.tables(*ingested), *below, rubrics)
            if judge.selection.sees_images:
                every = illustrated(every, drop.table(IMAGES.name))
            return judge.selection.chains(every)

        chosen = chosen_judges(drop, table, judges)
        if drop.parts is not None:
            done = drop.parts.judged(table, chosen)
        else:
            gates = cascading.gates(drop.home, drop.key, table, chosen, drop.log.warning)
            run = PanelRun(table, drop.key, drop.run_id, drop.config.budget(), drop.log.info, gates)
            done = run.judge(chosen, chains)
        async for result in results_of(
            done, table, drop.run_id, lambda each: {COVERAGE: coverage(each.tally), TEXT_SEEN: text_seen(each.tally)}
        ):
            yield result

    return judge_level
