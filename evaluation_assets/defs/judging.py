"""[judging] One verdict table per judge at every level; the judges of a level run side by side in one event loop."""

from collections.abc import AsyncIterator, Iterator, Sequence

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.stored_chains import JUDGED_TABLES, JudgedTable
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.pipeline.checks.judging import MIN_COVERAGE, MIN_TEXT_SEEN, coverage, text_seen
from evaluation_assets.core.pipeline.verdicts import PanelRun
from evaluation_assets.defs.cascading import Cascading
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import COVERAGE, TEXT_SEEN
from evaluation_assets.defs.per_judge import chosen_judges, judges_stage, results_of
from evaluation_assets.defs.stage import Result, Stage

CHECKS = {
    COVERAGE: f"The judge scored, or abstained with a reason on, at least {MIN_COVERAGE:.0%} of the subjects, and no "
    "budget stopped it.",
    TEXT_SEEN: f"The judge was shown at least {MIN_TEXT_SEEN:.0%} of the subjects' text.",
}


def judging_assets(judges: Sequence[Judge], rubrics: Rubrics, cascading: Cascading = Cascading()) -> list[Stage]:
    """The levels: clips, categories, trajectories, and sessions with their turns and interactions.

    What a judge says at a level hangs on what was ingested and on its own verdicts of the levels below. Which subjects
    it is asked about hangs, in a cascade, on what earlier stages said at this level.
    """
    return [_level(judged, judges, rubrics, cascading) for judged in JUDGED_TABLES.values()]


def _level(judged: JudgedTable, judges: Sequence[Judge], rubrics: Rubrics, cascading: Cascading) -> Stage:
    table = judged.table
    versions = ",".join(version for level in judged.levels for version in rubrics.versions(level).values())

    @judges_stage(
        table=table,
        judges=judges,
        shared=judged.ingested,
        own=judged.own,
        code_version=lambda judge: (
            "|".join(filter(None, (judge.version, versions, judge.selection.described(judged.levels))))
            + cascading.version(judge.name)
        ),
        description=lambda judge: f"Each row is {table.row}: {judge.name} ({judge.provider}, {judge.model}).",
        checks=CHECKS,
    )
    async def judge_level(drop: DropRun) -> AsyncIterator[Result]:

        def chains(judge: Judge) -> Iterator[Chain]:
            return judge.selection.chains(judged.shown_chains(drop.home, drop.key, judge, rubrics))

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
