"""Commands in processes that start with the product imported.

An evaluation takes 1 s of CPU, and importing what it needs 2.5 s. One process a worker imports it and is forked for
each command, which has its own environment, output, signals and exit status as any process has.
"""

import contextlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

_PRELOADED = "evaluation_assets_tests.preloaded"
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
    answers: str,
    output: str,
    errors: str,
) -> None:
    for descriptor, name, flags in ((0, answers, os.O_RDONLY), (1, output, os.O_WRONLY), (2, errors, os.O_WRONLY)):
        os.dup2(os.open(name, flags), descriptor)
    sys.stdin = os.fdopen(0, closefd=False)  # multiprocessing has replaced it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program.__name__.strip("_").replace("_", "-"), *arguments]
    assert _PRELOADED in sys.modules, "the process that is forked could not import it"
    program()


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
        files = (str(given), str(output), str(errors))
        process = fork(_run, program, arguments, environment, str(Path.cwd()), *files)
        process.join()
        assert process.exitcode is not None
        return subprocess.CompletedProcess(arguments, process.exitcode, output.read_text(), errors.read_text())
