"""Who runs this process."""

import getpass
import shutil
import subprocess


def user_name() -> str:
    """Name of the system user; in a container without one, of the git user; else `unknown`."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        git = shutil.which("git")
        done = git and subprocess.run(  # noqa: S603  (git alone, with fixed arguments)
            [git, "config", "user.name"], capture_output=True, text=True, check=False
        )
        return (done.stdout.strip() if done else "") or "unknown"
