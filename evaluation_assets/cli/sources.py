"""`sources`: list the sources of traces, and fetch from them now."""

import sys
from collections import Counter
from datetime import UTC, datetime, timedelta

import click

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.options import DurationType, with_home
from evaluation_assets.cli.output import echo, refuse, warn
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.sources.collection import UNLIMITED, Limits, Source, collect
from evaluation_assets.core.intake.sources.opening import open_store
from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.pipeline.drawing import sources_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted


@click.group("sources", cls=Group)
def source_commands() -> None:
    """List the sources of traces and fetch from them."""


@source_commands.command("list")
@with_home
def list_sources(home: Installation) -> None:
    """List the sources in sources.yaml and what each fetches."""
    sources = _load(home)
    if not sources:
        echo(f"no sources; add them to {home.sources_file}")
    for source in sources:
        settings = source.settings
        sample = "" if settings.share == 1 else f", a sample of {settings.share:.0%}"
        echo(
            source.name,
            f"  {settings.type}: {settings.place}",
            f"  every {settings.every_seconds} s, {settings.quiet_minutes:g} min after a trace's end{sample}",
        )


@source_commands.command("pull")
@click.argument("name", required=False)
@click.option(
    "--since", type=DurationType(), metavar="DURATION", help="How far to go back, e.g. 7d (default: the source's)."
)
@click.option("--dry-run", is_flag=True, help="Show the drops that would be made. Nothing is written.")
@with_home
def pull(home: Installation, name: str | None, since: timedelta | None, dry_run: bool) -> None:
    """Fetch traces into drops now, from one source or from all."""
    chosen = [source for source in _load(home) if name in (None, source.name)]
    if not chosen:
        refuse(f"no source {name!r} in {home.sources_file}" if name else f"no sources; add them to {home.sources_file}")
    if not dry_run:
        prepare(home)
    failed = False
    for source in chosen:
        try:
            _pull(home, source, since or source.settings.since, dry_run)
        except StoreError as problem:
            warn(f"{source.name}: {problem}")
            failed = True
    sys.exit(1 if failed else 0)


def _pull(home: Installation, source: Source, since: timedelta, dry_run: bool) -> None:
    now = datetime.now(UTC)
    cursor, is_complete = now - since, False
    added: Counter[str] = Counter()
    replaced = 0
    limits = UNLIMITED if dry_run else Limits()  # what a dry run has seen is in no drop, so it looks once
    while not is_complete:
        look = collect(source, open_store(source.settings, home), home.drops, cursor, now, limits, dry_run)
        added += look.added
        replaced += look.replaced
        cursor, is_complete = look.cursor, look.is_complete
        if not is_complete:
            echo(f"{source.name}: {look}", err=True)
    for key, count in sorted(added.items()):
        echo(f"{key}  {counted(count, 'trace')}")
    verb = "would be fetched" if dry_run else "fetched"
    completed = f", {counted(replaced, 'trace')} completed with late spans" if replaced else ""
    echo(f"{source.name}: {counted(added.total(), 'trace')} {verb} into {counted(len(added), 'drop')}{completed}")


def _load(home: Installation) -> list[Source]:
    return [Source(name, settings) for name, settings in sources_of(home).items()]
