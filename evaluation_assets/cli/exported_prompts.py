"""`export --format judge_prompts`: what each model judge was asked and answered."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from evaluation_assets.cli.key_mask import mask_of_keys
from evaluation_assets.cli.output import refuse
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import judges_of, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.report.provenance.judge_prompts import Wanted, judge_prompts
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import masked
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.core.traces.trajectories.model import JsonObject


def exported_prompts(home: Installation, drop: str, wanted: Wanted) -> Iterator[JsonObject]:
    """The lines to write, without keys."""
    rubrics, panel = load_rubrics(home.rubrics), load_panel(home.panel_file)
    models = {
        judge.name: judge
        for judge in judges_of(panel, home.ledger_url)
        if isinstance(judge, ModelJudge) or (isinstance(judge, EvaluatorJudge) and judge.asked is not None)
    }
    elsewhere = [name for name in home.judges_of(drop) if name not in {judge.name for judge in panel.judges}]
    if elsewhere and (not models or {*wanted.judges} & {*elsewhere}):
        named = ", ".join(elsewhere)
        refuse(f"{drop} was judged by {named}, not in {home.panel_file}. Set EVALUATION_PANEL to a panel that has them")
    for name in wanted.judges:
        if name not in models:
            hint = did_you_mean(name, models, f"models of the panel: {', '.join(models) or 'none'}")
            refuse(f"{name!r} is not a judge that asks a model; {hint}")
    mask = mask_of_keys(home)

    def lines(wanted: Wanted) -> Iterator[JsonObject]:
        judges = [judge for name, judge in models.items() if not wanted.judges or name in wanted.judges]
        return judge_prompts(home, drop, judges, rubrics, wanted)

    is_empty = True
    for line in lines(wanted):
        is_empty = False
        yield masked(line, mask)
    if is_empty:
        refuse(_nothing(drop, wanted, lambda other: any(True for _ in lines(other))))


def _nothing(drop: str, wanted: Wanted, matches: Callable[[Wanted], bool]) -> str:
    """Why there is nothing to export: the filters without which there would be, else all of them."""
    fields = {
        "levels": ("--level", wanted.levels, ()),
        "tool_types": ("--tool-type", wanted.tool_types, ()),
        "judges": ("--judge", wanted.judges, ()),
        "tasks": ("--task", wanted.tasks, ()),
        "part": ("--split", [wanted.part] if wanted.part else [], None),
    }
    given = {name: " ".join(f"{option} {each}" for each in own) for name, (option, own, _) in fields.items() if own}
    guilty = [said for name, said in given.items() if matches(replace(wanted, **{name: fields[name][2]}))]
    filters = " or ".join(guilty) or " ".join(given.values())
    return f"no verdict of a model in {drop} matches {filters}" if filters else f"{drop} has no verdict of a model"
