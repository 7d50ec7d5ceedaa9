"""The panel: read `panel.yaml` and create its judges."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from upath import UPath

from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator, installed_version
from evaluation_assets.core.judging.evaluators.settings import EvaluatorSettings
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.own.checks import settings_of
from evaluation_assets.core.judging.rubrics.model import METRIC_NAMES, Level
from evaluation_assets.core.judging.score_map import ScoreMap
from evaluation_assets.core.judging.selection import Preset, Selection
from evaluation_assets.core.models.endpoints import EndpointSettings
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.models.redaction.settings import OwnRedaction, Redaction
from evaluation_assets.core.models.strictest_limits import with_strictest_limits
from evaluation_assets.core.sections.sessions.embedding_settings import EmbeddingSettings
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, read_settings, validated
from evaluation_assets.core.system.own_code import InvalidFunction, OwnFunction, own_function
from evaluation_assets.core.system.plugins import JUDGES, InvalidPlugin, plugin
from evaluation_assets.core.text.meant import no_judge

EMBEDDED = "rules"
"""The provider of the judge that needs no model."""

RECORDED = "recorded"
"""The provider of judges whose verdicts came with the trajectories; `model` is the judge's name there."""

PYTHON = "python"
"""The provider of functions of the user's own."""

WITHOUT_MODEL = (EMBEDDED, RECORDED, PYTHON)
"""The providers of judges that ask no model through an endpoint of the panel."""

Stage = Annotated[
    tuple[str, ...], BeforeValidator(lambda names: (names,) if isinstance(names, str) else names), Field(min_length=1)
]
"""The judges of one stage of a cascade; a file may name a single one without a list."""


class InvalidPanel(InvalidConfiguration):
    """A panel file that cannot be used; the message names file, field and what to write instead."""


class JudgeSettings(EndpointSettings):
    """One judge of the panel: a model, or one of the providers that need none.

    Attributes:
        provider: `rules` (the embedded judge), `recorded` (verdicts in the trajectories), `python` (a function of
            yours), or the provider of a model, for instance `anthropic` or `openai_compatible`.
        model: Name of the model at the provider; with `recorded`, the judge's name in the trajectories. `null`: the
            provider's default model; for `recorded`, `recorded`.
        max_concurrency: Maximum requests in flight; with `python`, of calls at the same time.
        evaluator: Metric of another package that judges instead of the rubrics, and asks this judge's model. Metrics
            that ask no model have provider `python`.
        function: What provider `python` calls: `module:function`, or the name of an entry point.
        folder: Folder of the function's module, relative to panel.yaml.
        timeout_s: Seconds that the function, or an evaluator without a model, has for each subject.
        repeats: Verdicts of a model on every subject, each in a conversation of its own.
        levels: Levels that the judge is asked about. `null`: those of `preset` or the function, for an evaluator
            `trajectory`, else all.
        preset: Levels by name: `quick` (trajectory and answer, in one call), `standard` (also clips and categories) or
            `full` (all).
        sample: Share of the trajectories, up to 1, that the judge is asked about; drawn by their IDs. Default: all.
        mode: `batch` asks about categories, trajectories, answers and sessions in the provider's batches, which cost
            less and take longer.
        images: `true` sends the images of a clip, or of what else is judged, with its text. They are not redacted.
        probability: `true` also asks how likely a person would let the subject pass, which a cascade uses.
        claims: `true` also asks, about each whole trajectory, what its final answer states, and for a quotation that
            supports or contradicts it.
        map: What the mean score of a whole trajectory counts as: rising pairs of both, with straight lines between.
            `panel align` writes it.
        redaction: What is replaced in texts before they are sent to the judge. `null`: what the panel says; `false`:
            nothing.
    """

    needs_text: ClassVar[bool] = False

    evaluator: EvaluatorSettings | None = None
    function: str | None = None
    folder: str | None = None
    timeout_s: float = Field(default=60, gt=0)
    repeats: int = Field(default=1, ge=1)
    levels: tuple[Level, ...] | None = Field(default=None, min_length=1)
    preset: Preset | None = None
    sample: float | None = Field(default=None, gt=0, le=1)
    mode: Literal["interactive", "batch"] = "interactive"
    images: bool = False
    probability: bool = False
    claims: bool = False
    map: ScoreMap | None = Field(default=None, min_length=1)
    redaction: OwnRedaction = None

    @property
    def selection(self) -> Selection:
        """Which subjects the judge is asked about; a function says its levels itself."""
        return replace(self._asked, score_map=self.map or (), sees_images=self.images, asks_claims=self.claims)

    @property
    def _asked(self) -> Selection:
        if self.evaluator is not None:
            return Selection.of(("trajectory",) if self.levels is None else self.levels, None, self.sample)
        if self.provider == PYTHON and self.levels is None:
            return Selection.of(settings_of(self.own_function().function).levels, None, self.sample)
        return Selection.of(self.levels, self.preset, self.sample, probability=self.probability)

    @property
    def model_name(self) -> str:
        """The model, or what judges without one are called."""
        if self.provider == EMBEDDED:
            return "embedded"
        if self.provider == RECORDED:
            return self.model or "recorded"
        if self.provider == PYTHON:
            return self.function or (self.evaluator.name if self.evaluator else "")
        return super().model_name

    def own_function(self) -> OwnFunction:
        """The function of a judge with provider `python`.

        Raises:
            InvalidFunction: it cannot be imported, or its criterion has the name of a metric.
            InvalidPlugin: there is no entry point of this name, or it cannot be loaded.
        """
        name = self.function or ""
        folder = None if self.folder is None else Path(self.folder)
        function = own_function(name, folder) if ":" in name else plugin(JUDGES, name)
        if (criterion := settings_of(function.function).criterion) in METRIC_NAMES:
            raise InvalidFunction(f"function {name!r}: a metric has the name {criterion}; give @judge a criterion")
        return function

    def check(self) -> None:
        """Judges without a model need no endpoint."""
        if self.levels is not None and self.preset is not None:
            raise ValueError(f"preset {self.preset} chooses the levels; remove levels or preset")
        if self.evaluator is not None:
            self._check_evaluator(self.evaluator)
        elif (self.function is None) == (self.provider == PYTHON):
            raise ValueError(
                "provider python needs a function, for instance my_checks:no_refund_without_id"
                if self.function is None
                else f"provider {self.provider} takes no function; write provider: python"
            )
        if self.provider in WITHOUT_MODEL:
            asked = ((name, given, "is not asked anything") for name, given in self._asked_besides.items())
            for name, given, why in (("repeats", self.repeats > 1, "is deterministic"), *asked):
                if given:
                    raise ValueError(f"provider {self.provider} {why}; remove {name}")
            if self.preset == "quick":
                raise ValueError(f"provider {self.provider} makes no calls; choose preset standard or full, or levels")
        else:
            self.check_provider(*WITHOUT_MODEL)
            self._check_model()

    def _check_model(self) -> None:
        super().check()
        abilities = capabilities_of(self.provider, self.model_name)
        if abilities.decides and self.evaluator is not None:
            raise ValueError(f"provider {self.provider} has decision models, which {self.evaluator.name} cannot ask")
        if abilities.decides and self.probability:
            raise ValueError(f"provider {self.provider} always gives probabilities; remove probability")
        if self.claims and "trajectory" not in self.selection.levels:
            raise ValueError("claims are asked for about whole trajectories; add the level trajectory")
        if abilities.decides and self.claims:
            raise ValueError(f"provider {self.provider} has decision models, which write no claims; remove claims")
        if self.images and (abilities.decides or self.mode == "batch"):
            raise ValueError("decision models and mode: batch take no images; remove images")
        if self.mode == "batch" and not abilities.has_batches:
            raise ValueError(f"provider {self.provider} has no mode: batch; remove it")

    @property
    def _asked_besides(self) -> dict[str, bool]:
        """What only models are asked besides scores, and how."""
        batch = self.mode == "batch"
        return {"probability": self.probability, "images": self.images, "claims": self.claims, "mode: batch": batch}

    def _check_evaluator(self, own: EvaluatorSettings) -> None:
        if self.provider in (EMBEDDED, RECORDED):
            raise ValueError(f"provider {self.provider} has no evaluator; name the provider of a model, or python")
        for name, given in {
            "function": self.function is not None,
            "preset": self.preset is not None,
            **self._asked_besides,
        }.items():
            if given:
                raise ValueError(f"{own.name} asks its own questions; remove {name}")
        try:
            installed_version(own.package)
        except InvalidEvaluator as problem:
            raise ValueError(str(problem)) from None


class Panel(Section):
    """The judges, and how their verdicts are combined.

    Attributes:
        quorum: Number of judges that must have scored a subject for a mean to exist, or all that are asked about it if
            they are fewer.
        ask_above_usd: Expected cost in US dollars above which `evaluate` refuses to start without a terminal, `--yes`
            or a budget. On a terminal it asks instead, before it spends anything.
        judges: The judges. Default: the embedded judge.
        embeddings: Model that compares the messages of a session by their meaning. `null`: character n-grams.
        cascade: Stages, cheapest first, each a judge or a list of judges. A stage is asked about what no stage before
            it accepts.
        everyday: Judges that every evaluation asks; `weekly_full_panel` asks the others too. Default: all.
        redaction: What is replaced in texts before they are sent to a provider.
        redact_reports: Whether reports cover what `redaction` replaces, too.
    """

    quorum: int = Field(default=1, ge=1)
    ask_above_usd: float = Field(default=5.0, ge=0)
    judges: tuple[JudgeSettings, ...] = (JudgeSettings(name=EMBEDDED, provider=EMBEDDED),)
    embeddings: EmbeddingSettings | None = None
    cascade: tuple[Stage, ...] = ()
    everyday: tuple[str, ...] = ()
    redaction: Redaction = Redaction()
    redact_reports: bool = False

    @property
    def report_redaction(self) -> Redaction | None:
        """What is covered in reports; `None` is nothing."""
        return self.redaction if self.redact_reports else None

    @property
    def asks_in_batches(self) -> bool:
        """Whether a judge waits for batches, which take hours."""
        return any(judge.mode == "batch" for judge in self.judges)

    @property
    def stages(self) -> dict[str, int]:
        """The number of the stage of each judge that is in the cascade, from 0."""
        return {judge: number for number, stage in enumerate(self.cascade) for judge in stage}

    @property
    def not_everyday(self) -> tuple[str, ...]:
        """The judges that are not asked every day."""
        return tuple(judge.name for judge in self.judges if self.everyday and judge.name not in self.everyday)

    def asking(self, names: Iterable[str] = ()) -> Self:
        """The panel of one evaluation: `names` are asked beside those of every day; the tables of others stay empty."""
        self._check_known(names, "ask_also")
        skipped, nothing = {*self.not_everyday} - {*names}, {"levels": (), "preset": None}
        judges = (judge.model_copy(update=nothing) if judge.name in skipped else judge for judge in self.judges)
        return self.model_copy(update={"judges": tuple(judges), "everyday": ()})

    def with_preset(self, preset: Preset) -> Self:
        """The panel with this preset for all judges that are models."""
        judges = (
            judge
            if judge.provider in WITHOUT_MODEL or judge.evaluator is not None
            else judge.model_copy(update={"preset": preset, "levels": None})
            for judge in self.judges
        )
        return self.model_copy(update={"judges": tuple(judges)})

    def of_judges(self, judges: Iterable[JudgeSettings]) -> Self:
        """The panel of these judges, each of which is asked and counts by itself."""
        alone = {"judges": tuple(judges), "cascade": (), "quorum": 1, "embeddings": None}
        return self.model_copy(update=alone)

    def _check_known(self, names: Iterable[str], place: str) -> None:
        known = [judge.name for judge in self.judges]
        if unknown := sorted({*names} - {*known}):
            raise InvalidPanel(f"{place}: {no_judge(unknown[0], known)}")

    @model_validator(mode="after")
    def _quorum_can_be_reached(self) -> Self:
        if self.quorum > (count := len(self.judges)):
            said = f"quorum {self.quorum} cannot be reached by a panel of {count}, so there would be no scores"
            raise ValueError(f"{said}; lower quorum or add judges")
        return self

    @field_validator("judges")
    @classmethod
    def _names_differ(cls, judges: tuple[JudgeSettings, ...]) -> tuple[JudgeSettings, ...]:
        names = [judge.name for judge in judges]
        if not names or len(set(names)) < len(names):
            raise ValueError("a panel needs at least one judge, and the names of judges must be unique")
        return judges

    @model_validator(mode="after")
    def _criteria_of_evaluators_differ(self) -> Self:
        known: dict[str, EvaluatorSettings] = {}
        for judge in self.judges:
            if (own := judge.evaluator) is None:
                continue
            other = known.setdefault(own.criterion_name, own)
            if own != other.model_copy(update={"criterion": own.criterion}):
                raise ValueError(
                    f"different evaluators score the criterion {own.criterion_name}, which would average them; give "
                    "each its own criterion"
                )
        return self

    @model_validator(mode="after")
    def _stages_name_judges(self) -> Self:
        named = [judge for stage in self.cascade for judge in stage]
        self._check_known(named, "cascade")
        self._check_known(self.everyday, "everyday")
        if named and self.everyday:
            raise ValueError("everyday: the cascade decides which judges are asked; remove one of them")
        if len(set(named)) < len(named):
            raise ValueError("cascade: a judge can be in one stage only")
        if len(self.cascade) == 1:
            raise ValueError("cascade: name at least two stages, cheapest first, or remove it")
        always = len(self.judges) - (len(named) - len(self.cascade[0]) if self.cascade else 0)
        if self.quorum > always:
            raise ValueError(
                f"quorum {self.quorum} cannot be reached where the first stage of the cascade decides: {always} judges "
                "are asked about everything; lower quorum or enlarge the first stage"
            )
        return self


def load_panel(path: UPath | None) -> Panel:
    """The panel in a file; the embedded judge alone when there is no file, unless `EVALUATION_PANEL` names it.

    Functions of the user's own are imported: a panel file is trusted like code.

    Raises:
        InvalidPanel: the file is no YAML, a field is wrong, or a function cannot be used.
    """
    if path is None or not path.exists():
        if path is not None and str(path) == os.environ.get("EVALUATION_PANEL"):
            raise InvalidPanel(f"there is no panel file at {path}, which EVALUATION_PANEL names")
        return Panel()
    panel = read_settings(path, Panel, InvalidPanel)
    try:
        judges = tuple(_found_from(judge, path) for judge in panel.judges)
    except (InvalidFunction, InvalidPlugin) as problem:
        raise InvalidPanel(f"{path}: judges: {problem}") from problem
    return panel.model_copy(update={"judges": judges})


def _found_from(judge: JudgeSettings, panel: UPath) -> JudgeSettings:
    """The settings with the folder that a function is looked for in; the function is imported."""
    if judge.function is None:
        return judge
    folder = Path(panel.path).parent / (judge.folder or ".")
    located = judge.model_copy(update={"folder": str(folder.resolve())})
    located.own_function()
    return located


def panel_of(data: Any, source: str) -> Panel:
    """The panel that parsed YAML describes.

    Raises:
        InvalidPanel: a field is wrong; the message begins with `source`.
    """
    return validated(data, Panel, source, InvalidPanel)


def judges_of(panel: Panel, ledger_url: str) -> list[Judge]:
    """The panel's judges. None of them needs a key or a connection before it is opened."""
    from evaluation_assets.core.judging.making_judges import judge_of  # noqa: PLC0415  (it imports this module)

    return [judge_of(settings, ledger_url, panel.redaction) for settings in with_strictest_limits(panel.judges)]
