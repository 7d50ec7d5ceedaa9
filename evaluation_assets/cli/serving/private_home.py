"""Warn of a home folder that others on the machine can read."""

from evaluation_assets.cli.output import warn
from evaluation_assets.core.system.installation import Installation


def warn_if_readable(home: Installation) -> None:
    """Warn if others can read the folder of an installation, which may be what its owner wants."""
    if home.is_readable_by_others:
        folder = home.local_folder
        warn(f"others on this machine can read {folder}, where prompts and traces are; `chmod 700 {folder}` ends that")
