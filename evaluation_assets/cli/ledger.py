"""`ledger`: repair the database of paid replies."""

from pathlib import Path

import click
import sqlalchemy as sa

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.options import with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.models.ledger_repair import repair as repaired
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted


@click.group("ledger", cls=Group)
def ledger_commands() -> None:
    """Repair the ledger, the database of paid replies."""


@ledger_commands.command("repair")
@with_home
def repair(home: Installation) -> None:
    """Replace a damaged SQLite ledger by one with all replies that can be read.

    Stop all evaluations first. The damaged file is kept beside the new one, with the ending `.damaged`. Replies that
    cannot be read are paid for again when they are needed.
    """
    url = sa.make_url(home.ledger_url)
    if url.drivername != "sqlite" or not url.database:
        refuse("the ledger is not an SQLite file; restore a backup of its database")
    done = repaired(Path(url.database))
    if done is None:
        echo(f"{url.database} is not damaged")
        return
    echo(f"{url.database}: kept {counted(done.replies, 'reply')}", f"  damaged file  {done.damaged_file}")
