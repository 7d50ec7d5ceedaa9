"""`open`: show the report of a drop in a browser."""

import threading
import webbrowser
from difflib import get_close_matches
from pathlib import Path

import click
from upath import UPath

from evaluation_assets.cli.options import with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.cli.report_server import serving
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.regular_files import is_local
from evaluation_assets.core.report_addresses import trajectory_place
from evaluation_assets.core.reporting.files import report_files
from evaluation_assets.core.reporting.index import write_index
from evaluation_assets.core.reporting.viewer.page import DATA_FOLDER


@click.command("open")
@click.argument("drop", required=False)
@click.argument("trajectory", required=False)
@click.option("--print", "only_print", is_flag=True, help="Print the address; open no browser.")
@with_home
def open_report(home: Installation, drop: str | None, trajectory: str | None, only_print: bool) -> None:
    """Open the report of a drop in a browser.

    Without DROP, the list of all reports opens.

    With TRAJECTORY, the report opens at this trajectory.

    A report whose transcripts are in files beside it is served on this machine until Ctrl-C.
    """
    if drop is None:
        index = write_index(home.root / "reports")
        _show(Path(index.path).as_uri() if is_local(index) else str(index), only_print)
        return
    page = report_files(home.reports(drop), drop).html
    if not page.exists():
        known = [path.removesuffix("/report.html") for path in _reports(home)]
        near = get_close_matches(drop, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "Evaluate it first: evaluation-assets evaluate FILE"
        refuse(f"{drop!r} has no report in {home.root / 'reports'}. {hint}")
    place = "" if trajectory is None else trajectory_place(_known(home, drop, trajectory))
    if not is_local(page):
        refuse(f"the report is at {page}; copy the folder, or open it from the web server of the store")
    if not (page.parent / DATA_FOLDER).exists() or not any((page.parent / DATA_FOLDER).iterdir()):
        _show(Path(page.path).as_uri() + place, only_print)
        return
    with serving(Path(page.parent.path), "127.0.0.1", 0) as port:
        _show(f"http://127.0.0.1:{port}/report.html{place}", only_print)
        echo("Serving the report on this machine; press Ctrl-C to stop.", err=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


def _show(address: str, only_print: bool) -> None:
    echo(address)
    if not only_print and not webbrowser.open(address):
        echo("evaluation-assets: no browser was found; open the address above", err=True)


def _known(home: Installation, drop: str, trajectory: str) -> str:
    names = [row["trajectory_id"] for row in home.table(drop, "preprocessed_trajectories").rows(["trajectory_id"])]
    if trajectory not in names:
        near = get_close_matches(trajectory, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; it has {len(names)}, listed in the report"
        refuse(f"{drop!r} has no trajectory {trajectory!r}{hint}")
    return trajectory


def _reports(home: Installation) -> list[str]:
    folder = home.root / "reports"
    found: list[UPath] = list(folder.rglob("report.html")) if folder.exists() else []
    return sorted(path.path.removeprefix(folder.path).strip("/") for path in found)
