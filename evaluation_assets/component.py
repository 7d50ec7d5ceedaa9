"""The assets of an installation as a Dagster component, for the code location of another project."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import dagster as dg
from dagster.components.resolved.core_models import (
    DailyPartitionsDefinitionModel,
    HourlyPartitionsDefinitionModel,
    StaticPartitionsDefinitionModel,
    TimeWindowPartitionsDefinitionModel,
    WeeklyPartitionsDefinitionModel,
    resolve_partitions_def,
)
from dagster.components.utils.translation import TranslationFnResolver
from pydantic import ConfigDict, Field
from upath import UPath

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import InvalidDrop
from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.suites.agents.settings import agent_files, load_agents
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.dropped import dropped_asset, write_drop
from evaluation_assets.defs.freshness import RAW
from evaluation_assets.defs.regression import BASELINE
from evaluation_assets.defs.shown import shown_as

Translation = Annotated[
    Callable[[dg.AssetSpec, dg.AssetSpec], dg.AssetSpec],
    TranslationFnResolver[dg.AssetSpec](lambda _: {}),
]
_log = log_of(__name__)
_PARTITIONS: Any = Annotated[
    DailyPartitionsDefinitionModel
    | HourlyPartitionsDefinitionModel
    | WeeklyPartitionsDefinitionModel
    | TimeWindowPartitionsDefinitionModel
    | StaticPartitionsDefinitionModel,
    Field(discriminator="type"),  # an error is told of the type that was written, not of each
]
_described = dg.Resolver.default  # Dagster takes no description from a field that has a default value


class EvaluationScaffolder(dg.Scaffolder):
    """Writes the defs.yaml of `dg scaffold defs evaluation_assets.EvaluationComponent NAME`."""

    def scaffold(self, request: dg.ScaffoldRequest) -> None:
        """Name a home folder in the project, so that the component loads as it is."""
        top = request.target_path if request.project_root is None else request.project_root
        home = os.path.relpath(top / ".evaluation", request.target_path)
        dg.scaffold_component(request, {"home": home})


class EvaluationInput(dg.Model, dg.Resolvable):
    """An asset of your project whose trajectories are evaluated.

    Attributes:
        asset: its key. Its value is a list of records (dictionaries), a table of them, or the path of a file.
        path: the file or folder that the asset writes, relative to the folder of defs.yaml, or an fsspec URL; its value
            is not loaded then. With partitions it holds `{partition_key}`, such as `s3://logs/runs/{partition_key}`.
        drop: name of the drop (default: the last part of the key).
        partitions_def: its partitions, as it declares them. Each becomes a drop of its own, `<drop>/<partition>`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    asset: dg.ResolvedAssetKey
    path: Annotated[str | None, _described(description="The file or folder that the asset writes.")] = None
    drop: Annotated[str | None, _described(description="Name of the drop. Default: the last part of the key.")] = None
    partitions_def: Annotated[
        dg.PartitionsDefinition | None,
        dg.Resolver(
            resolve_partitions_def,
            model_field_type=_PARTITIONS,
            description="The partitions of the asset. Each becomes a drop of its own.",
        ),
    ] = None


@dg.scaffold_with(EvaluationScaffolder)
class EvaluationComponent(dg.Component, dg.Model, dg.Resolvable):
    """Evaluates AI agents: the assets, checks and jobs of an installation, with its sensors and schedules.

    Attributes:
        home: the home folder: a path, relative to the folder of defs.yaml, or an fsspec URL.
        panel: path of the panel.yaml (default: panel.yaml in the home folder; without one, the embedded judge).
        lake: where the tables are stored (default: in the home folder).
        automation: whether sensors and schedules are added too. With false, only assets, checks and jobs are.
        inputs: assets of your project whose trajectories are evaluated.
        translation: attributes of all assets, such as key_prefix or tags; `spec` is the asset as it would be.
    """

    home: Annotated[str, _described(description="Home folder: a path relative to defs.yaml, or an fsspec URL.")]
    panel: Annotated[str | None, _described(description="Path of the panel.yaml. Default: in the home folder.")] = None
    lake: Annotated[str | None, _described(description="Where tables are stored. Default: in the home folder.")] = None
    automation: Annotated[bool, _described(description="Whether sensors and schedules are added.")] = True
    inputs: Annotated[list[EvaluationInput], _described(description="Assets whose trajectories are evaluated.")] = (
        Field(default=[])
    )
    translation: Annotated[
        Translation | None,
        _described(description="Attributes of all assets, such as key_prefix, group_name, tags and owners."),
    ] = None

    def get_asset_spec(self, spec: dg.AssetSpec) -> dg.AssetSpec:
        """An asset as your project shows it. Override it to give some assets other groups, owners, tags or conditions.

        The key may get a prefix, the same for all assets; runs find tables by the rest of it.
        """
        return spec if self.translation is None else self.translation(spec, spec)

    def execute(self, home: Installation, drop: str, trajectories: Any) -> str:
        """Write what an asset of `inputs` gives into the drop of this name, and return the drop's key.

        Override it to convert objects of your own into records.
        """
        return write_drop(home, drop, trajectories)

    def _shown(self, spec: dg.AssetSpec) -> dg.AssetSpec:
        """The asset as your project shows it; with a condition for all assets, each drop would become the baseline."""
        shown = self.get_asset_spec(spec)
        return shown.replace_attributes(automation_condition=None) if spec.key == BASELINE else shown

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the installation, without an executor: that of the other project holds."""
        _check_alone(context)
        lake = None if self.lake is None else str(_placed(self.lake, context.path))
        home = Installation.at(str(_placed(self.home, context.path)), lake)
        if not home.root.exists():
            _log.warning("there is no home folder %s: it is made; if that is not the place, correct `home`", home.root)
        prepare(home)
        panel = load_panel(home.panel_file if self.panel is None else _existing(_placed(self.panel, context.path)))
        made = build_definitions(home, panel, agents=load_agents(agent_files(home.agents)), executor=None)
        dropped = [
            dropped_asset(
                given.asset,
                drop,
                None if given.path is None else _placed(given.path, context.path),
                self.execute,
                given.partitions_def,
            )
            for drop, given in _by_drop(self.inputs).items()
        ]
        fed_by = [dg.AssetDep(asset, partition_mapping=_mapping_of(asset)) for asset in dropped]
        assets = [
            asset.map_asset_specs(
                lambda spec: spec.replace_attributes(deps=[*spec.deps, *fed_by]) if spec.key == RAW else spec
            )
            for asset in (*(made.assets or []), *dropped)
            if isinstance(asset, dg.AssetsDefinition)
        ]
        return shown_as(
            dg.Definitions(
                assets=assets,
                jobs=made.jobs,
                resources=made.resources,
                sensors=made.sensors if self.automation else None,
                schedules=made.schedules if self.automation else None,
            ),
            {spec.key: self._shown(spec) for asset in assets for spec in asset.specs},
        )


def _check_alone(context: dg.ComponentLoadContext) -> None:
    """Two would define resources, jobs and sensors of the same names; Dagster names only the first of these."""
    tree = context.component_tree
    if tree.is_fully_loaded() and (count := len(tree.get_all_components(EvaluationComponent))) > 1:
        raise dg.DagsterInvalidDefinitionError(
            f"this code location has {count} instances of EvaluationComponent, and may have one. Give each home a code "
            "location of its own, with another `key_prefix` in `translation`."
        )


def _placed(given: str, folder: Path) -> UPath:
    """A path of defs.yaml: relative ones begin at its folder, whatever the process was started in."""
    path = UPath(given)
    return UPath((folder / path.path).resolve()) if is_local(path) else path


def _by_drop(inputs: list[EvaluationInput]) -> dict[str, EvaluationInput]:
    named: dict[str, EvaluationInput] = {}
    for given in inputs:
        drop = given.drop or given.asset.path[-1]
        if drop in named:
            raise InvalidDrop(f"two inputs have the drop {drop!r}; name one with `drop` in defs.yaml")
        named[drop] = given
    return named


def _mapping_of(dropped: dg.AssetsDefinition) -> dg.PartitionMapping | None:
    """Which of its partitions a drop is made from: Dagster knows no names of drops, and takes all."""
    return None if dropped.partitions_def is None else dg.AllPartitionMapping()


def _existing(file: UPath) -> UPath:
    if not file.exists():
        raise FileNotFoundError(f"there is no panel file at {file}; correct `panel` in defs.yaml")
    return file
