"""A home folder that cannot be used is one line and exit status 2, in every command and in the Python API."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import evaluation_assets as ea
from evaluation_assets.cli.main import main
from evaluation_assets_tests.conftest import SAMPLE


def commands_with_home(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each command that has the option `--home`, with arguments of the right types."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands_with_home(command, (*names, name))
            elif command is not None and any("--home" in param.opts for param in command.params):
                needed = [param for param in command.params if param.required or param.name == "inputs"]
                given = (
                    word
                    for param in needed
                    for word in ([param.opts[0]] if isinstance(param, click.Option) else []) + [_value(param.type)]
                )
                yield (*names, name, *given)


def _value(kind: click.ParamType) -> str:
    """A value that the type of a parameter accepts."""
    if isinstance(kind, click.Choice):
        return kind.choices[0]
    return str(SAMPLE)


@pytest.mark.parametrize("arguments", [*commands_with_home(main)], ids=lambda arguments: " ".join(arguments[:2])[:20])
@pytest.mark.parametrize("below", ["", "below", "below/deeper"])
def test_a_home_that_is_a_file_is_named(tmp_path: Path, arguments: tuple[str, ...], below: str) -> None:
    (tmp_path / "file").write_text("not a folder\n")
    done = CliRunner().invoke(main, [*arguments, "--home", str(tmp_path / "file" / below)])
    assert done.exit_code == 2, done.output
    assert done.stderr == (
        f"evaluation-assets: the home folder cannot be used: {tmp_path / 'file'} is not a folder. "
        "Choose another --home.\n"
    )
    assert (tmp_path / "file").read_text() == "not a folder\n"


def test_a_path_that_the_system_refuses_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["overview", "--home", str(tmp_path / ("long" * 100))])
    assert done.exit_code == 2
    assert "File name too long. Choose another --home." in done.stderr


def test_a_lake_that_is_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALUATION_LAKE_URL", str(tmp_path / "file"))
    done = CliRunner().invoke(main, ["overview", "--home", str(tmp_path / "home")])
    assert done.exit_code == 2
    assert f"{tmp_path / 'file'} is not a folder" in done.stderr


@pytest.mark.parametrize("mode", [0o000, 0o555], ids=["not readable", "not writable"])
def test_a_home_without_permission_is_named(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(mode)
    bound = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if bound and subprocess.run([*bound, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root has all permissions, and this machine cannot take them away")
    command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(SAMPLE), "--home", str(home), "--quiet"]
    done = subprocess.run([*bound, *command], capture_output=True, text=True, check=False)
    home.chmod(0o755)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert f"{home}" in line and "Permission denied" in line and "hoose another --home" in line


def test_the_python_api_names_it_too(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for call in (lambda home: ea.evaluate(SAMPLE, home=home), ea.load_home):
        with pytest.raises(ea.UnusableInput, match="file is not a folder; choose another home"):
            call(tmp_path / "file" / "below")
