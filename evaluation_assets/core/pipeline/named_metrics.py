"""The metrics that gate.yaml and files of figures name exist: a typo would leave the gate without a limit."""

from collections.abc import Iterable, Iterator, Sequence

from upath import UPath

from evaluation_assets.core.judging.panel import JudgeSettings, Panel, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.pipeline.settings import InvalidSettings, Settings, load_settings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.meant import did_you_mean


def settings_of(home: Installation, panel: Panel) -> Settings:
    """The settings in gate.yaml. The metrics that it names are some that this panel or that of panel.yaml can score.

    Functions of the user's own name their scores when they return them: with one of them, names are not checked.

    Raises:
        InvalidSettings: as `load_settings`, or a metric does not exist; the message names the nearest.
        InvalidRubric, InvalidPanel: a rubric or the panel of the installation cannot be used.
    """
    settings = load_settings(home.gate_file)
    gate = settings.gate
    for field, named in (("metrics", gate.metrics or ()), ("floors", gate.floors)):
        _check(home, panel, f"{home.gate_file}: gate.{field}", named)
    return settings


def check_figures(home: Installation, panel: Panel, file: UPath) -> None:
    """Check that the metrics in a file of figures exist, as `settings_of` does. Other baselines are not read.

    Raises:
        InvalidSettings: a metric does not exist; the message names the nearest.
        InvalidBaseline: a figure cannot be that of its metric.
        InvalidRubric, InvalidPanel: as `settings_of`.
    """
    from evaluation_assets.core.gating.baselines import read_figures  # noqa: PLC0415

    _check(home, panel, str(file), read_figures(file) or ())


def _check(home: Installation, panel: Panel, place: str, named: Iterable[str]) -> None:
    named = list(named)
    if not named:
        return
    judges = [*panel.judges, *load_panel(home.panel_file).judges]
    if any(judge.function is not None for judge in judges):
        return
    known = sorted(_metrics(home, judges))
    for name in named:
        if name not in known:
            hint = did_you_mean(name, known, f"choose one of: {', '.join(known)}")
            raise InvalidSettings(f"{place}: no metric is called {name}; {hint}")


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
