"""The assets of an installation as a Dagster component, for the code location of another project."""

import os
from pathlib import Path

import dagster as dg
from upath import UPath

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.suites.agents.settings import agent_files, load_agents
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.definitions import build_definitions


class EvaluationScaffolder(dg.Scaffolder):
    """Writes the defs.yaml of `dg scaffold defs evaluation_assets.EvaluationComponent NAME`."""

    def scaffold(self, request: dg.ScaffoldRequest) -> None:
        """Name a home folder in the project, so that the component loads as it is."""
        top = request.target_path if request.project_root is None else request.project_root
        home = os.path.relpath(top / ".evaluation", request.target_path)
        dg.scaffold_component(request, {"home": home})


@dg.scaffold_with(EvaluationScaffolder)
class EvaluationComponent(dg.Component, dg.Model, dg.Resolvable):
    """Evaluates AI agents: the assets, checks and jobs of an installation, with its sensors and schedules.

    Attributes:
        home: the home folder: a path, relative to the folder of defs.yaml, or an fsspec URL.
        panel: path of the panel.yaml (default: panel.yaml in the home folder; without one, the embedded judge).
        lake: where the tables are stored (default: in the home folder).
        automation: whether sensors and schedules are added too. With false, only assets, checks and jobs are.
    """

    home: str
    panel: str | None = None
    lake: str | None = None
    automation: bool = True

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the installation, without an executor: that of the other project holds."""
        lake = None if self.lake is None else str(_placed(self.lake, context.path))
        home = Installation.at(str(_placed(self.home, context.path)), lake)
        prepare(home)
        panel = load_panel(home.panel_file if self.panel is None else _existing(_placed(self.panel, context.path)))
        made = build_definitions(home, panel, agents=load_agents(agent_files(home.agents)), executor=None)
        if self.automation:
            return made
        return dg.Definitions(
            assets=made.assets, asset_checks=made.asset_checks, jobs=made.jobs, resources=made.resources
        )


def _placed(given: str, folder: Path) -> UPath:
    """A path of defs.yaml: relative ones begin at its folder, whatever the process was started in."""
    path = UPath(given)
    return UPath((folder / path.path).resolve()) if is_local(path) else path


def _existing(file: UPath) -> UPath:
    if not file.exists():
        raise FileNotFoundError(f"there is no panel file at {file}; correct `panel` in defs.yaml")
    return file
