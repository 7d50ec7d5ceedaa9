"""Commands that messages name."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from evaluation_assets.core.system import commands
from evaluation_assets.core.system.commands import installing, program


def test_the_program_is_named_as_a_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / ".venv" / "bin" / "evaluation-assets"
    own.parent.mkdir(parents=True)
    own.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(own.with_name("python")))
    monkeypatch.setenv("PATH", str(own.parent))
    assert program() == "evaluation-assets"
    monkeypatch.setenv("PATH", os.defpath)
    assert program() == str(own)
    monkeypatch.chdir(tmp_path)
    assert program() == ".venv/bin/evaluation-assets"
    own.unlink()
    assert program() == "evaluation-assets"


def test_packages_of_an_extra_are_installed_by_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    python, *how = shlex.split(installing("mlflow"))
    assert (python, how[:3]) == (sys.executable, ["-m", "pip", "install"])
    assert [each.split("<")[0] for each in how[3:]] == ["mlflow-skinny"]
    assert len(shlex.split(installing("receive"))) == 6
    monkeypatch.setattr(commands, "requires", lambda _: None)
    assert installing("mlflow").endswith(" -m pip install '.[mlflow]'")


def test_no_text_installs_a_package_of_our_name_from_an_index() -> None:
    root = Path(__file__).parents[3]
    texts = [*(root / "evaluation_assets").rglob("*.py"), *(root / "docs").rglob("*.md"), root / "README.md"]
    assert len(texts) > 500
    assert [path.name for path in texts if "install 'evaluation-assets[" in path.read_text("utf-8")] == []
