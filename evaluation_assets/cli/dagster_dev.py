"""`dagster dev` with the webserver that answers only its own pages."""

from subprocess import Popen
from typing import Any

from dagster._cli import dev
from dagster_shared.ipc import open_ipc_subprocess


def _service(command: list[str], **options: Any) -> "Popen[bytes]":
    """Start one of the services; the third word of its command is its module."""
    known = {"dagster_webserver": "evaluation_assets.cli.dagster_webserver", "dagster._daemon": "dagster._daemon"}
    return open_ipc_subprocess([*command[:2], known[command[2]], *command[3:]], **options)


if __name__ == "__main__":
    # It has no option for another webserver.
    dev.open_ipc_subprocess = _service  # pyright: ignore[reportPrivateImportUsage]
    dev.dev_command()
