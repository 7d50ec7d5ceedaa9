"""A virtual environment per framework, cached in the home directory and renewed when its requirements change."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path.home() / ".cache" / "evaluation-assets" / "frameworks"
_INSTALL_SECONDS = 900


class NotInstalled(Exception):
    """A framework could not be installed; the message is the installer's last line."""


def python_of(name: str, requirements: Path) -> Path:
    """The interpreter of a framework's environment, made if it is missing.

    Raises:
        NotInstalled: the environment could not be made.
    """
    folder = CACHE / name
    python, stamp = folder / "bin" / "python", folder / "requirements.sha256"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    if uv := shutil.which("uv"):
        _run(uv, "venv", "--python", sys.executable, str(folder))
        _run(uv, "pip", "install", "--python", str(python), "-r", str(requirements))
    else:
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(python), "-m", "pip", "install", "-q", "-r", str(requirements))
    stamp.write_text(wanted)
    return python


def version_of(python: Path, requirements: Path) -> str:
    """The installed version of the first requirement."""
    package = requirements.read_text().splitlines()[0].partition("<")[0].partition("[")[0].strip()
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
    except subprocess.TimeoutExpired as problem:
        raise NotInstalled(f"not installed within {_INSTALL_SECONDS} s") from problem
    if done.returncode:
        raise NotInstalled((done.stderr.strip().splitlines() or ["no message"])[-1])
