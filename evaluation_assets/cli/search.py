"""`search`: find runs in all drops, by words and by likeness."""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from evaluation_assets.cli.evaluated import refuse_without_drops
from evaluation_assets.cli.opening import has_data_beside
from evaluation_assets.cli.options import WholeRange, text_or_json, with_home
from evaluation_assets.cli.output import echo, refuse, warn
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.search.run_conditions import OUTCOMES, Query, query_of
from evaluation_assets.core.report.search.run_likeness import runs_like
from evaluation_assets.core.report.search.run_search import (
    FoundRun,
    drops_to_search,
    runs_with,
    with_outcomes,
)
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.core.text.meant import did_you_mean, near_names
from evaluation_assets.core.text.report_addresses import trajectory_place
from evaluation_assets.core.text.well_formed import well_formed

_CONDITION = re.compile(r"-?[a-z][a-z_.]*(?:[:=]|[<>]=?)\S")
"""How conditions of the searches of pages begin, `score<0.5` for instance."""


@click.command("search")
@click.argument("words", nargs=-1)
@click.option("--like", metavar="RUN", help="Most like this run first: RUN or DROP/RUN.")
@click.option("--drop", "chosen", metavar="DROP", multiple=True, help="Search this drop only; can be repeated.")
@click.option("--limit", type=WholeRange(min=1), default=20, show_default=True, help="Maximum number of runs.")
@text_or_json
@with_home
def search(
    home: Installation, words: tuple[str, ...], like: str | None, chosen: tuple[str, ...], limit: int, format_name: str
) -> None:
    """Search the runs of all drops, by words or by likeness to a run.

    Runs that have all WORDS, in any case, in their text, task, answers, user messages, or ID; phrases in double quotes:
    search '"no such file" retry'. The drops with the newest runs come first. Nothing leaves the machine.

    Conditions, as on the page of runs: finding:KIND, tool:NAME (or a part of it), outcome:pass, :fail or :unknown.
    A minus negates: search 'finding:missing_call -tool:cancel refund'.

    With --like, runs are compared by their task, final answer, tools, failed calls and findings.
    """
    query = query_of(well_formed(" ".join(words)))
    _refuse_unknown(query)
    if query == Query() and like is None:
        refuse("nothing to search for. Give words, or a run with --like")
    drops = _drops(home, chosen)
    if like is None:
        shown = list(runs_with(home, query, drops, warn, limit + 1))
    else:
        run = _run(home, like)
        chosen_runs = None if query == Query() else runs_with(home, query, drops, warn)
        among = None if chosen_runs is None else {(each.drop, each.trajectory_id) for each in chosen_runs}
        shown = runs_like(home, run, drops, limit + 1, warn, among)
    listed = with_outcomes(home, shown[:limit], warn)
    if format_name == "json":
        click.echo(json.dumps([asdict(each) | {"open": _link(home, each)} for each in listed], indent=1))
        return
    for each in listed:
        echo(*_lines(home, each))
    if not shown:
        echo(f"no run {_lacking(query)}{_searched_as_text(query.terms)}")
    elif len(shown) > limit:
        echo(f"there are more: search with --limit {2 * limit}, or with more words")


def _refuse_unknown(query: Query) -> None:
    """Refuse values that no run can have."""
    known = {"finding": kinds(), "outcome": OUTCOMES.values()}
    for field, value, _ in query.conditions:
        if field in known and value not in known[field]:
            hint = did_you_mean(value, known[field], f"choose one of: {', '.join(known[field])}")
            refuse(f"{field}:{value} is not a condition; {hint}")


def _lacking(query: Query) -> str:
    met = "meets these conditions" if query.conditions else ""
    has = "has all of these words" if query.terms else ""
    return " and ".join(filter(None, (met, has))) or "is like this one"


def _searched_as_text(terms: Sequence[str]) -> str:
    conditions = [term for term in terms if _CONDITION.match(term)]
    more = "searched as text; the page that `open` shows has more conditions than this command"
    return f"; {conditions[0]} was {more}" if conditions else ""


def _drops(home: Installation, chosen: Sequence[str]) -> list[str]:
    drops = drops_to_search(home)
    if not drops:
        refuse_without_drops(home)
    for drop in chosen:
        if drop not in drops:
            refuse(f"there is no evaluated drop {drop!r}{_hint(drop, drops)}")
    return [drop for drop in drops if not chosen or drop in chosen]


def _run(home: Installation, like: str) -> tuple[str, str]:
    """The drop and the ID of a run; of an ID alone, the run of the drop with the newest runs."""
    known: list[str] = []
    place = None
    for drop in drops_to_search(home):
        wanted = like.removeprefix(f"{drop}/")
        ids = list(home.table(drop, "preprocessed_trajectories").values("trajectory_id"))
        place = next(((drop, run) for run in (wanted, like) if run in ids), None)
        if place is not None:
            break
        known += near_names(wanted, ids)
    if place is None:
        refuse(f"there is no evaluated run {like!r}{_hint(like, known)}")
    return place


def _hint(name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    return f"; {hint}" if hint else ""


def _lines(home: Installation, run: FoundRun) -> Iterator[str]:
    place = "" if run.clip_index is None else f", clip {run.clip_index}"
    alike = (
        ""
        if run.likeness is None
        else f"  {': '.join(filter(None, [f'{run.likeness:.2f} alike', ', '.join(run.shared)]))}"
    )
    outcome = f"  {run.outcome}" if run.outcome else ""
    yield f"{run.drop}  {run.trajectory_id}{place}{outcome}{alike}"
    yield f"  {run.excerpt}"
    yield f"  {_link(home, run)}"


def _link(home: Installation, run: FoundRun) -> str:
    """What opens the run: the URL of the report, its file where a browser can read it, else the command."""
    address = home.report_address(run.drop)
    if address.is_url:
        return address.trajectory(run.trajectory_id, run.clip_index)
    page = report_files(home.reports(run.drop), run.drop).html
    if is_local(page) and page.exists() and not has_data_beside(page):
        return Path(page.path).as_uri() + trajectory_place(run.trajectory_id, run.clip_index)
    return shlex.join(["evaluation-assets", "open", run.drop, run.trajectory_id, "--home", str(home.root)])
