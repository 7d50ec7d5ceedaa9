"""Values of options that no command can use."""

from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import command


@pytest.mark.parametrize(
    "arguments",
    [
        ("cascade", "fit", "d", "--alpha", "nan"),
        ("cascade", "fit", "d", "--delta", "nan"),
        ("noise", "d", "--decrease", "nan"),
        ("evaluate", "examples", "--budget", "inf"),
        ("evaluate", "examples", "--requests-per-minute", "nan"),
        ("receive", "--keep-days", "nan"),
    ],
)
def test_what_is_no_number_is_in_no_range(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    refused = command(*arguments, home=tmp_path)
    assert refused.returncode == 2
    assert "is not a number" in refused.stderr
