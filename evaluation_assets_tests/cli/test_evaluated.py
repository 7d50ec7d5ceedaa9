"""What is said of drops and runs that a command cannot use."""

from pathlib import Path

import pytest

from evaluation_assets.cli.evaluated import check_run
from evaluation_assets.core.system.installation import Installation


def test_a_drop_without_runs_is_said_to_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check_run(Installation.at(str(tmp_path)), "broken", "A1", [])
    assert "'broken' has no runs: none of its records could be read" in capsys.readouterr().err
