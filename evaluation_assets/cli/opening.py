"""`open`: show the report of a drop in a browser."""

import threading
import webbrowser
from pathlib import Path

import click
from upath import UPath

from evaluation_assets.cli.evaluated import check_run, refuse_without_report
from evaluation_assets.cli.options import with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.cli.serving.report_server import serving
from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.models.redaction.redactor import NotRedacted
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.report.drop_report import write_comparison
from evaluation_assets.core.report.index import write_index
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.viewer.page import DATA_FOLDER
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.core.text.report_addresses import trajectory_place


@click.command("open")
@click.argument("drop", required=False)
@click.argument("trajectory", metavar="[RUN]", required=False)
@click.option("--against", metavar="DROP", help="Compare with this drop, not with the baseline.")
@click.option("--print", "only_print", is_flag=True, help="Print the address; open no browser.")
@with_home
def open_report(
    home: Installation, drop: str | None, trajectory: str | None, against: str | None, only_print: bool
) -> None:
    """Open the report of a drop in a browser.

    Without DROP, the list of all reports opens; with RUN, the report opens there.

    With --against, another page of the drop is written that compares it with the drop of choice.

    A report whose transcripts are in files beside it is served on this machine until Ctrl-C.
    """
    if drop is None:
        if against is not None:
            refuse(f"--against {against!r} needs the drop that is compared with it: open DROP --against {against}")
        show(write_list(home), only_print)
        return
    page = page_of(home, drop)
    if trajectory is not None:
        check_run(home, drop, trajectory, list(home.table(drop, "preprocessed_trajectories").values("trajectory_id")))
    place = "" if trajectory is None else trajectory_place(trajectory)
    if against is not None:
        if against == drop:
            refuse(f"--against {against!r} is the drop itself; name another drop")
        page_of(home, against)
        page, place = _compared(home, drop, against), place or "#/compare"
    if not has_data_beside(page):
        show(Path(page.path).as_uri() + place, only_print)
        return
    with serving(Path(page.parent.path), "127.0.0.1", 0) as port:
        show(f"http://127.0.0.1:{port}/{page.name}{place}", only_print)
        echo("Serving the report on this machine; press Ctrl-C to stop.", err=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


def write_list(home: Installation) -> str:
    """Write the list of all reports; gives its address."""
    index = write_index(home, load_panel(home.panel_file).report_redaction)
    return Path(index.path).as_uri() if is_local(index) else str(index)


def has_data_beside(page: UPath) -> bool:
    """Whether transcripts are in files beside the page, which browsers read only from a server."""
    folder = page.parent / DATA_FOLDER
    return folder.exists() and any(folder.iterdir())


def page_of(home: Installation, drop: str) -> UPath:
    """The page of a drop's report; exits if there is none on this machine."""
    page = report_files(home.reports(drop), drop).html
    if not page.exists():
        refuse_without_report(home, drop, [path.removesuffix("/report.html") for path in _reports(home)])
    if not is_local(page):
        refuse(f"the report is at {page}; copy the folder, or open it from the web server of the store")
    return page


def _compared(home: Installation, drop: str, against: str) -> UPath:
    panel, settings = load_panel(home.panel_file), load_settings(home.gate_file)
    try:
        return write_comparison(home, drop, against, Scorers.of(home, panel), settings, panel.report_redaction)
    except NotRedacted as problem:
        refuse(f"{problem}; simplify the pattern in panel.yaml")


def show(address: str, only_print: bool) -> None:
    """Print an address and open it in a browser."""
    echo(address)
    if not only_print and not webbrowser.open(address):
        echo("evaluation-assets: no browser was found; open the address above", err=True)


def _reports(home: Installation) -> list[str]:
    folder = home.root / "reports"
    reports: list[UPath] = list(folder.rglob("report.html")) if folder.exists() else []
    return sorted(path.path.removeprefix(folder.path).strip("/") for path in reports)
