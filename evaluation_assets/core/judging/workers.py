"""Who uses a ledger, and whether he is still there."""

import os
import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Worker:
    """One user of a ledger: a random id, and its process, by which others on the same machine see that it has ended.

    `machine` is the boot of the machine and the pid namespace in it: only there a pid means this process. It is empty
    where the system does not tell (not Linux).
    """

    id: str
    machine: str
    process: str


def new_worker() -> Worker:
    """A worker in this process."""
    return Worker(secrets.token_hex(16), _machine(), f"{os.getpid()}:{_started(os.getpid()) or ''}")


def has_ended(machine: str, process: str) -> bool:
    """Whether a worker's process is known to be gone: only the same machine in the same pid namespace can tell."""
    if not machine or machine != _machine():
        return False
    pid, _, started = process.partition(":")
    return _started(int(pid)) != started


@cache
def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When a process started, in ticks since boot: pids are used again. `None` when it has ended."""
    try:
        about = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = about.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]
