"""`delete`: delete drops with everything that was made of them."""

import sys
from collections.abc import Iterator, Sequence

import click

from evaluation_assets.cli.opening import write_list
from evaluation_assets.cli.options import with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.pipeline.deletion import FilesOfDrop, files_of, known_drops
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.report.render import plain
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.meant import did_you_mean


@click.command("delete")
@click.argument("drops", metavar="DROP...", nargs=-1, required=True)
@click.option("--yes", "agreed", is_flag=True, help="Do not ask.")
@with_home
def delete(home: Installation, drops: tuple[str, ...], agreed: bool) -> None:
    """Delete drops with their tables, reports and runs in Dagster.

    Labels, baselines, states of failure groups and the ledger are kept. `overview` updates the tables over all drops.
    """
    found = files_of(home, dict.fromkeys(drops))
    for files in found:
        if not files:
            near = did_you_mean(files.drop, known_drops(home))
            refuse(f"there is no drop {files.drop!r} in {home.root}; {near}".rstrip("; "))
    echo(*(_line(files) for files in found), err=not agreed)
    if not agreed and not sys.stdin.isatty():
        refuse("nothing was deleted; add --yes")
    if not agreed and not click.confirm("Delete?", err=True):
        refuse("nothing was deleted")
    _delete(home, found)


def _line(files: FilesOfDrop) -> str:
    counts = (
        counted(len(files.trajectories), "file") + " in drops",
        counted(len(files.tables), "table"),
        counted(len(files.reports), "file") + " of reports",
    )
    return f"{plain(files.drop)}: {', '.join(counts)}"


def _delete(home: Installation, found: Sequence[FilesOfDrop]) -> None:
    """Delete the drops, and let Dagster forget them."""
    from evaluation_assets.defs.deleted_drops import forget  # noqa: PLC0415
    from evaluation_assets.resources.drop_lock import claimed  # noqa: PLC0415
    from evaluation_assets.runs.jobs import instance_of  # noqa: PLC0415

    shared = 0
    with instance_of(home) as instance:
        for files in found:
            with claimed(home, files.drop) as is_free:
                if not is_free:
                    refuse(f"{files.drop} is being evaluated; wait for its run, or stop it")
                shared += forget(instance, files.drop)
                files.delete()
    write_list(home)
    echo(f"kept: {', '.join(_kept(home, shared))}")


def _kept(home: Installation, shared: int) -> Iterator[str]:
    yield "labels, baselines, the ledger with the replies of judges"
    if shared:
        days = load_settings(home.gate_file).retention.run_days
        until = "for good" if days is None else f"for at least {counted(days, 'day')}"
        yield f"and {until} {counted(shared, 'run')} in Dagster that had other drops, too"
