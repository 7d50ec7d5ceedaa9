"""The judges of the panel that a command asks by themselves, outside of an evaluation, after their price was shown."""

from evaluation_assets.cli.output import refuse
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, JudgeSettings, Panel
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.text.meant import no_judge


def judge_named(panel: Panel, name: str) -> JudgeSettings:
    """The judge of this name; exits if the panel has none."""
    known = {judge.name: judge for judge in panel.judges}
    if name not in known:
        refuse(no_judge(name, known))
    return known[name]


def one_judge(panel: Panel, name: str | None, task: str, *, writes: bool = False) -> Panel:
    """The panel of the named judge alone, or of the first language model, which is asked each question once.

    Exits if there is none that can do the `task`; one that `writes` is no decision model.
    """
    able = [judge for judge in panel.judges if judge.provider not in WITHOUT_MODEL and judge.evaluator is None]
    if name is None or writes:
        able = [judge for judge in able if not capabilities_of(judge.provider, judge.model_name).decides]
    if name is None and not able:
        refuse("no judge of the panel is a language model; add one to panel.yaml, or name one with --judge")
    named = [judge for judge in able if name in (None, judge.name)]
    if not named:
        known = ", ".join(judge.name for judge in able) or "none"
        refuse(f"no judge {name!r} that can {task} in the panel; judges that are models: {known}")
    return panel.of_judges([named[0].model_copy(update={"repeats": 1})])
