"""Commands in processes that start with the product imported.

A command takes 0.5 s of CPU, and importing what it needs 2 s. One process a test run imports it and is forked for each
command, which has its own environment, output, signals and exit status as any process has.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["evaluation_assets.definitions", "evaluation_assets.cli.evaluating", "evaluation_assets.runs.paid"]
)


def _run(arguments: list[str], environment: dict[str, str], folder: str, output: str, errors: str) -> None:
    for descriptor, name, flags in ((0, os.devnull, os.O_RDONLY), (1, output, os.O_WRONLY), (2, errors, os.O_WRONLY)):
        os.dup2(os.open(name, flags), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["evaluation-assets", *arguments]
    from evaluation_assets.cli.__main__ import run

    run()


def forked_command(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `evaluation-assets` with arguments in the current folder.

    Variables that Python reads when it starts, such as PYTHONPATH, come too late for a fork.
    """
    late = [name for name, value in environment.items() if name.startswith("PYTHON") and os.environ.get(name) != value]
    assert not late, f"a forked command does not see {late}: start a process"
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        output.touch()
        errors.touch()
        process = FORKS.Process(target=_run, args=(arguments, environment, str(Path.cwd()), str(output), str(errors)))
        process.start()
        process.join()
        assert process.exitcode is not None
        return subprocess.CompletedProcess(arguments, process.exitcode, output.read_text(), errors.read_text())
