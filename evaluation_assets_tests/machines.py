"""Processes on machines of the same name and machine id: Linux namespaces with a boot id of their own."""

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

_FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))

_SET_UP = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'


def on_machine(folder: Path, code: str, *, ahead_s: float = 0.0) -> subprocess.Popen[str]:
    """Start Python code on another machine; killing it kills all of the machine's processes.

    It has a PID namespace and a boot id of its own, and the host name and machine id of this machine, as clones and
    containers may have. Skips where that is not permitted.

    Args:
        folder: Where the machine's files go.
        code: The program.
        ahead_s: How far its wall clock is ahead, by libfaketime. The time since the start of the machine stays.
    """
    need_machines()
    given = dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    if ahead_s:
        if not _FAKETIME:
            pytest.skip("a wrong clock needs libfaketime (Debian: apt-get install faketime)")
        given |= {"LD_PRELOAD": str(_FAKETIME[0]), "FAKETIME": f"{ahead_s:+g}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        given |= {"DONT_FAKE_MONOTONIC": "1"}
    boot = folder / f"boot_id_{uuid.uuid4().hex}"
    boot.write_text(f"{uuid.uuid4()}\n")
    return subprocess.Popen(
        [*_NAMESPACES, "sh", "-c", _SET_UP, str(boot), sys.executable, "-c", code],
        env=given,
        stdout=subprocess.PIPE,
        text=True,
    )


def need_machines() -> None:
    """Skip the test where namespaces are not permitted."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    if subprocess.run([*_NAMESPACES, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("namespaces of PIDs and mounts need privileges")


_NAMESPACES = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
