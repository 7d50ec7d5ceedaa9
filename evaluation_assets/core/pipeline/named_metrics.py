"""The metrics that gate.yaml names exist: a typo would leave the gate without a limit."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from evaluation_assets.core.judging.panel import JudgeSettings, Panel, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.pipeline.settings import InvalidSettings, Settings, load_settings
from evaluation_assets.core.system.installation import Installation


def settings_of(home: Installation, panel: Panel) -> Settings:
    """The settings in gate.yaml. The metrics that it names are some that this panel or that of panel.yaml can score.

    Functions of the user's own name their scores when they return them: with one of them, names are not checked.

    Raises:
        InvalidSettings: as `load_settings`, or a metric does not exist; the message names the nearest.
        InvalidRubric, InvalidPanel: a rubric or the panel of the installation cannot be used.
    """
    settings = load_settings(home.gate_file)
    gate = settings.gate
    if not gate.metrics and not gate.floors:
        return settings
    judges = [*panel.judges, *load_panel(home.panel_file).judges]
    if any(judge.function is not None for judge in judges):
        return settings
    known = sorted(_metrics(home, judges))
    for field, named in (("metrics", gate.metrics or ()), ("floors", gate.floors)):
        for name in named:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(known)}"
                raise InvalidSettings(f"{home.gate_file}: gate.{field}: no metric is called {name}; {hint}")
    return settings


def _metrics(home: Installation, judges: Sequence[JudgeSettings]) -> Iterator[str]:
    # SciPy is imported only where gate.yaml names a metric.
    from evaluation_assets.core.gating.task_metrics import FINDING, WITHOUT_JUDGES  # noqa: PLC0415
    from evaluation_assets.core.scoring.analysed_sessions import SESSION_METRICS  # noqa: PLC0415
    from evaluation_assets.core.scoring.panel_scores import OVERALL  # noqa: PLC0415
    from evaluation_assets.core.sections.findings.kinds import kinds  # noqa: PLC0415

    yield from (*WITHOUT_JUDGES, OVERALL, *SESSION_METRICS)
    yield from (f"{FINDING}{kind}" for kind in kinds())
    criteria = load_rubrics(home.rubrics).criteria
    for judge in judges:
        if judge.evaluator is not None:
            criteria |= {(level, judge.evaluator.criterion_name) for level in judge.selection.levels}
    yield from (key for level, key in criteria if level == "trajectory")
    yield from (f"answer.{key}" for level, key in criteria if level == "answer")
