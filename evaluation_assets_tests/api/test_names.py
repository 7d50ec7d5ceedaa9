"""`import evaluation_assets` takes no time, and type checkers see its names."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import evaluation_assets

HEAVY = {"dagster", "pandas", "pyarrow", "pydantic", "numpy", "upath", "sqlalchemy", "click"}


def imported_after(code: str) -> set[str]:
    """The top-level modules in a new process after some code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps([name for name in sys.modules if '.' not in name]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not HEAVY & imported_after("import evaluation_assets as ea\nea.__all__, dir(ea)")


def test_home_and_reading_need_no_dagster() -> None:
    found = imported_after("import evaluation_assets as ea\nea.load_home, ea.read")
    assert "upath" in found
    assert not {"dagster", "pandas"} & found


@pytest.mark.parametrize("name", evaluation_assets.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(evaluation_assets, name).__name__ == name
    assert name in dir(evaluation_assets)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'evaluation_assets' has no attribute 'evalute'"):
        evaluation_assets.evalute  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018


@pytest.mark.slow
def test_type_checkers_see_types_and_refuse_unknown_names(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import evaluation_assets as ea\n"
        "reveal_type(ea.evaluate('runs.jsonl').gate().verdict)\n"
        "reveal_type(ea.evaluate('runs.jsonl').clips)\n"
        "ea.evaluate('runs.jsonl', bugdet=1)\n"
        "ea.evalute\n"
    )
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(Path(evaluation_assets.__file__).parents[1])]})
    )
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    said = [each["message"] for each in json.loads(done.stdout)["generalDiagnostics"]]
    assert "Literal['pass', 'warn', 'fail', 'inconclusive', 'incomparable']" in said[0]
    assert 'is "DataFrame"' in said[1]
    assert 'No parameter named "bugdet"' in said[2]
    assert '"evalute" is not a known attribute' in said[3]
