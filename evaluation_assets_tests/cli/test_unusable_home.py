"""A home folder that cannot be used is one line and exit status 2, in every command and in the Python API."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from upath import UPath

import evaluation_assets as ea
from evaluation_assets.cli.main import main
from evaluation_assets.core.system.installation import Installation, UnusableHome
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


@pytest.mark.parametrize("refused", ["?", "%20", "%fF"])
def test_a_path_that_is_no_address_of_a_database_is_refused(tmp_path: Path, refused: str) -> None:
    """Tables were created in another folder than they were read from."""
    done = CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--home", str(tmp_path / f"a{refused}b" / "home")])
    assert done.exit_code == 2
    assert f" has {refused} in its path, which addresses of databases cannot have. Choose another" in done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("arguments", [["evaluate", str(SAMPLE)], ["overview"]])
def test_a_path_that_is_not_utf8_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(main, [*arguments, "--home", str(tmp_path / "h\udcff")])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.output
    assert " is not UTF-8, which the names of databases have to be. Choose another --home." in done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("home", ["/proc/x", "/sys/x/deeper"])
@pytest.mark.parametrize("arguments", [*commands_with_home(main)], ids=lambda arguments: " ".join(arguments[:2])[:20])
def test_a_folder_that_nobody_can_create_is_named(arguments: tuple[str, ...], home: str) -> None:
    """Also by commands that would only read: what they say next would send the reader to a place that cannot be."""
    done = CliRunner().invoke(main, [*arguments, "--home", home])
    assert done.exit_code == 2, done.output
    system = "/".join(home.split("/")[:2])
    assert done.stderr == (
        f"evaluation-assets: the home folder cannot be used: {home} cannot be created: {system} is not writable. "
        "Choose another --home.\n"
    )


@pytest.mark.parametrize(
    ("home", "said"),
    [
        ("", "its path is empty"),
        ("nosuch://bucket/home", "Unsupported filesystem: 'nosuch'"),
        ("s3:/home", "bucket/container missing"),
        ("s3://bucket/home", "s3://bucket/home: Unable to locate credentials"),
        ("http://127.0.0.1:9/home", "http://127.0.0.1:9/home/drops cannot be created: "),
    ],
)
def test_a_url_that_leads_nowhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, said: str
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--home", home])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.output
    assert said in done.stderr and done.stderr.endswith(". Choose another --home.\n")


@pytest.mark.parametrize("folder", ["drops", "lake", "reports", "dagster"])
def test_a_file_in_the_place_of_one_of_its_folders_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).write_text("not a folder\n")
    done = CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--quiet", "--home", str(tmp_path)])
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.splitlines()
    assert str(tmp_path / folder) in line and line.endswith("Choose another --home.")


def test_a_folder_that_vanishes_below_a_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check before says it can be created; the system says no when it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    home = Installation(UPath(tmp_path / "gone" / ("n" * 200)), UPath(tmp_path / "lake"))
    home.check()
    (tmp_path / "gone").rmdir()
    (tmp_path / "gone").touch()
    with pytest.raises(UnusableHome, match="cannot be created: "):
        home.make()


def test_a_lake_that_is_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALUATION_LAKE_URL", str(tmp_path / "file"))
    done = CliRunner().invoke(main, ["overview", "--home", str(tmp_path / "home")])
    assert done.exit_code == 2
    assert f"{tmp_path / 'file'} is not a folder" in done.stderr


@pytest.mark.parametrize("place", ["home", "home/new"])
@pytest.mark.parametrize("mode", [0o000, 0o555], ids=["not readable", "not writable"])
def test_a_home_without_permission_is_named(tmp_path: Path, mode: int, place: str) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(mode)
    home = tmp_path / place
    bound = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if bound and subprocess.run([*bound, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root has all permissions, and this machine cannot take them away")
    command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(SAMPLE), "--home", str(home), "--quiet"]
    done = subprocess.run([*bound, *command], capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    said = "Permission denied" if place == "home" or mode == 0 else f"cannot be created: {folder} is not writable"
    assert f"{home}" in line and said in line and "hoose another --home" in line


def test_the_python_api_names_it_too(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for call in (lambda home: ea.evaluate(SAMPLE, home=home), ea.load_home):
        with pytest.raises(ea.UnusableInput, match="file is not a folder; choose another home"):
            call(tmp_path / "file" / "below")
        with pytest.raises(
            ea.UnusableInput, match="/proc/x cannot be created: /proc is not writable; choose another home"
        ):
            call("/proc/x")
        with pytest.raises(ea.UnusableInput, match="Unsupported filesystem"):
            call("nosuch://home")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "drops").touch()
    with pytest.raises(ea.UnusableInput, match="drops cannot be created: File exists; choose another home"):
        ea.evaluate(SAMPLE, home=tmp_path / "home")


@pytest.mark.parametrize(
    ("variable", "value"), [("EVALUATION_PANEL", "none.yaml"), ("EVALUATION_LEDGER_URL", "postgresql://127.0.0.1:1/x")]
)
def test_what_a_variable_names_and_is_not_there_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    refused = CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--home", str(tmp_path / "home"), "--quiet"])
    assert refused.exit_code == 2 and variable in refused.output
    assert not (tmp_path / "home" / "reports" / SAMPLE.stem).exists()
