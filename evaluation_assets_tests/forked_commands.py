"""Commands in processes that start with the product imported.

An evaluation takes 1 s of CPU, importing what it needs 2.5 s, and the clients of models 1.5 s more. One process a
worker imports it and is forked for each command, which has its own environment, output, signals and exit status as any
process has.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

_PRELOADED = "evaluation_assets_tests.preloaded"
_NOTHING = (os.devnull, os.devnull, os.devnull)
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([_PRELOADED])


@cache
def _start() -> None:
    with contextlib.chdir(Path(__file__).parents[1]):  # what it imports is found there, wherever a test has gone
        forkserver.ensure_running()


def fork(target: Callable[..., object], *arguments: object) -> BaseProcess:
    """Call a function in a process that has imported what commands and model servers need."""
    _start()
    process = _FORKS.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def _evaluation_assets() -> None:
    from evaluation_assets.cli.__main__ import run

    run()


def _pytest() -> None:
    import pytest

    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.exit(pytest.main(sys.argv[1:]))


def _run(
    program: Callable[[], None],
    arguments: list[str],
    environment: dict[str, str],
    folder: str,
    streams: tuple[str, str, str],
) -> None:
    os.setsid()
    for descriptor, (name, flags) in enumerate(zip(streams, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)):
        os.dup2(os.open(name, flags | os.O_NOCTTY), descriptor)
    sys.stdin = os.fdopen(0, closefd=False)  # multiprocessing has replaced it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program.__name__.strip("_").replace("_", "-"), *arguments]
    assert _PRELOADED in sys.modules, "the process that is forked could not import it"
    program()


class Forked:
    """A command that runs, with the methods of `subprocess.Popen`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    def poll(self) -> int | None:
        """The exit status, `None` while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, f"it still runs after {timeout} s"
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to a command that has not been waited for."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def interrupt(self) -> None:
        """What a terminal does at Ctrl-C: the command gets the signal, and all that it has started."""
        assert self._process.pid is not None
        os.killpg(self._process.pid, signal.SIGINT)


def start_command(
    arguments: list[str],
    environment: Mapping[str, str],
    streams: tuple[str, str, str] = _NOTHING,
) -> Forked:
    """Start `evaluation-assets` in a session of its own; its input, output and errors are these files or terminals."""
    return Forked(fork(_run, _evaluation_assets, arguments, dict(environment), str(Path.cwd()), streams))


def forked_command(
    arguments: list[str], environment: dict[str, str], answers: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `evaluation-assets` with arguments in the current folder; `answers` is its standard input.

    Variables that Python reads when it starts, such as PYTHONPATH, come too late for a fork.
    """
    late = [name for name, value in environment.items() if name.startswith("PYTHON") and os.environ.get(name) != value]
    assert not late, f"a forked command does not see {late}: start a process"
    return _forked(_evaluation_assets, arguments, environment, answers)


def forked_pytest(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run pytest with arguments in the current folder, and with the modules of the PYTHONPATH."""
    return _forked(_pytest, arguments, environment)


def _forked(
    program: Callable[[], None], arguments: list[str], environment: dict[str, str], answers: str = ""
) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        given, output, errors = (Path(folder) / name for name in ("input", "output", "errors"))
        given.write_text(answers)
        output.touch()
        errors.touch()
        streams = (str(given), str(output), str(errors))
        status = Forked(fork(_run, program, arguments, environment, str(Path.cwd()), streams)).wait()
        return subprocess.CompletedProcess(arguments, status, output.read_text(), errors.read_text())
