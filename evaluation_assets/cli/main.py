"""`evaluation-assets`: the commands. They materialise the same assets as the UI, in the same instance.

Exit status: 0 finished and all blocking checks passed; 1 a blocking check or a step failed; 2 usage error or unusable
input; 3 stopped by the budget. Results go to stdout, progress and logs to stderr.
"""

import click

from evaluation_assets.cli.border import Commands

_HERE = "evaluation_assets.cli"

SECTIONS = {
    "Evaluate": {
        "evaluate": (f"{_HERE}.evaluate:evaluate", "Evaluate files of trajectories."),
        "plan": (f"{_HERE}.plan:plan", "Dry run of `evaluate` with a cost estimate."),
        "import": (f"{_HERE}.importing:import_files", "Preview how files are parsed."),
        "formats": (f"{_HERE}.formats:formats", "List the supported formats and how each is detected."),
        "check": (f"{_HERE}.check:check", "Check files or drops for violations of constraints."),
    },
    "Look at results": {
        "open": (f"{_HERE}.opening:open_report", "Open the report of a drop in a browser."),
        "search": (f"{_HERE}.search:search", "Search the runs of all drops, by words or by likeness to a run."),
        "groups": (f"{_HERE}.groups:group_commands", "List failure groups, and keep their states and names."),
        "overview": (
            f"{_HERE}.overview:overview",
            "Show the last drops, and what fails again and again.",
        ),
        "explain": (f"{_HERE}.explain:explain", "Show what a figure of a report comes from."),
        "leaderboard": (f"{_HERE}.overview:leaderboard", "Rank agents and versions on the tasks that all of them did."),
    },
    "Decide": {
        "gate": (f"{_HERE}.gate:gate", "Compare an evaluated drop with its suite's baseline."),
        "compare": (f"{_HERE}.compare:compare", "Compare two evaluated drops, task by task."),
        "baseline": (f"{_HERE}.gate:baseline_commands", "Promote and show baselines."),
        "noise": (f"{_HERE}.noise:noise", "Show how much repeated trials differ."),
        "drift": (f"{_HERE}.overview:drift", "Test for a lasting decrease since each suite's baseline."),
        "review": (f"{_HERE}.review:review", "Label the runs of a drop in a browser."),
    },
    "Judges": {
        "panel": (f"{_HERE}.panel:panel_commands", "Manage the panel, the judges in use."),
        "judges": (f"{_HERE}.overview:judges", "Compare each judge with human labels."),
        "cascade": (f"{_HERE}.cascade:cascade_commands", "Fit and show the cascade of judges."),
        "inject": (
            f"{_HERE}.inject:inject",
            "Plant faults into copies of runs and measure how well judges and detectors notice them.",
        ),
        "ledger": (f"{_HERE}.ledger:ledger_commands", "Repair the ledger, the database of paid replies."),
    },
    "Test suites": {
        "suite": (f"{_HERE}.suite:suite_commands", "Check, convert and run test suites."),
    },
    "Data": {
        "sources": (f"{_HERE}.sources:source_commands", "List the sources of traces and fetch from them."),
        "receive": (f"{_HERE}.receive:receive", "Receive traces from agents over OTLP/HTTP."),
        "export": (f"{_HERE}.export:export", "Export an evaluated drop as JSON Lines."),
        "delete": (f"{_HERE}.delete:delete", "Delete drops with their tables, reports and runs in Dagster."),
        "sinks": (f"{_HERE}.sinks:sink_commands", "Send scores to trace stores, pull requests and webhooks."),
    },
    "Run": {
        "verify": (f"{_HERE}.verify:verify", "Check that this installation can evaluate."),
        "ui": (f"{_HERE}.ui:ui", "Start the Dagster UI and daemon."),
    },
}
"""Where each command is, and its short help, in the order of `--help`."""


@click.group(cls=Commands, sections=SECTIONS)
@click.version_option(package_name="evaluation-assets")
def main() -> None:
    """Evaluate AI agents from the trajectories they recorded."""
