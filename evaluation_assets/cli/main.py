"""`evaluation-assets`: the commands. They materialise the same assets as the UI, in the same instance.

Exit status: 0 finished and all blocking checks passed; 1 a blocking check or a step failed; 2 usage error or unusable
input; 3 stopped by the budget. Results go to stdout, progress and logs to stderr.
"""

import click

from evaluation_assets.cli.border import Commands
from evaluation_assets.cli.evaluate import evaluate
from evaluation_assets.cli.export import export
from evaluation_assets.cli.formats import formats
from evaluation_assets.cli.gate import baseline_commands, gate
from evaluation_assets.cli.importing import import_files
from evaluation_assets.cli.overview import drift, judges, leaderboard, overview
from evaluation_assets.cli.panel import panel_commands
from evaluation_assets.cli.plan import plan
from evaluation_assets.cli.suite import suite_commands
from evaluation_assets.cli.ui import ui


@click.group(cls=Commands)
@click.version_option(package_name="evaluation-assets")
def main() -> None:
    """Evaluate AI agents from the trajectories they recorded."""


for command in (
    evaluate,
    plan,
    gate,
    baseline_commands,
    overview,
    leaderboard,
    judges,
    drift,
    suite_commands,
    panel_commands,
    formats,
    import_files,
    export,
    ui,
):
    main.add_command(command)
