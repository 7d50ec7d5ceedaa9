"""What commands on evaluated drops share."""

from evaluation_assets.cli.output import refuse
from evaluation_assets.core.system.installation import Installation


def check_evaluated(home: Installation, drop: str, table: str = "task_metrics") -> None:
    """Exit with status 2 if a drop has no such table, and name the drops that have it."""
    if not home.table(drop, table).exists:
        known = ", ".join(home.drops_with(table)) or "none"
        refuse(f"{drop} has not been evaluated; evaluated drops: {known}")
