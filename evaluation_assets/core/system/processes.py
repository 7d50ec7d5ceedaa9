"""Identify processes across machines and check whether they are still alive."""

import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

State = Literal["running", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Process:
    """A process, known well enough not to be taken for another one with its number.

    Where the system has no `/proc`, `boot`, `namespace` and `started` are empty.
    """

    host: str
    boot: str
    namespace: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> Self:
        """This process."""
        pid = os.getpid()
        return cls(_machine(), _boot(), _namespace(), pid, _started(pid))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """A process as `to_dict` gives it."""
        return cls(**data)

    def to_dict(self) -> dict[str, Any]:
        """The process as JSON."""
        return asdict(self)

    def state(self, *, one_machine: bool = True) -> State:
        """Whether the process runs, as far as this machine can tell.

        A process of another machine or PID namespace (another container) cannot be seen from here. A machine that was
        started again since then has none of its old processes.

        Args:
            one_machine: Whether only processes of one machine can be asked about. Where several machines meet, one of
                the same name is not taken for this one before its restart: names may be given twice or be cut, and
                clones and containers of one image have the same machine id.
        """
        if self.host != _machine():
            return "unknown"
        if self.boot != _boot():
            return "gone" if one_machine else "unknown"
        if self.namespace != _namespace():
            return "unknown"
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return "gone"
        except PermissionError:
            pass
        return "running" if _started(self.pid) == self.started else "gone"


def _machine() -> str:
    """Host name and machine id: containers of one image share the id, and cloned machines the name."""
    return f"{socket.gethostname()} {_content('/etc/machine-id')}".strip()


def _boot() -> str:
    return _content("/proc/sys/kernel/random/boot_id")


def _namespace() -> str:
    """The PID namespace, and the time namespace, in which start times of processes are counted."""
    return " ".join(_link(f"/proc/self/ns/{kind}") for kind in ("pid", "time")).strip()


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process was started, in clock ticks since the machine was; a zombie counts as ended."""
    # The second field is the program's name in brackets and may hold anything.
    fields = _content(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if not fields:
        return ""
    return "ended" if fields[0] in ("Z", "X") else fields[19]


def _content(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError:
        return ""
