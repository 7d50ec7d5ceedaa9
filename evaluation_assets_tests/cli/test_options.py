"""Values of options that no command can use."""

from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("evaluate", "d", "--budget", "five"), "'five' is not a valid number."),
        (("search", "d", "--limit", "2.5"), "'2.5' is not a valid integer."),
    ],
)
def test_a_text_is_said_to_be_no_number_and_not_no_range(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    refused = command(*arguments, home=tmp_path)
    assert refused.returncode == 2 and refused.stderr.rstrip().endswith(said)


@pytest.mark.parametrize(
    "arguments",
    [
        ("cascade", "fit", "d", "--alpha", "nan"),
        ("cascade", "fit", "d", "--delta", "nan"),
        ("noise", "d", "--decrease", "nan"),
        ("evaluate", "examples", "--budget", "inf"),
        ("receive", "--keep-days", "nan"),
    ],
)
def test_what_is_no_number_is_in_no_range(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    refused = command(*arguments, home=tmp_path)
    assert refused.returncode == 2
    assert "is not a number" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("search", "words", "--limit", "99999999999999999999"), "99999999999999999999 is too large"),
        (("evaluate", "examples", "--beta-threshold", "99999999999999999999"), "is too large"),
        (("receive", "--max-spool-gb", "1e300"), "is not in the range"),
        (("receive", "--port", "99999"), "is not in the range"),
        (("ui", "--port", "99999"), "is not in the range"),
        (("ui", "--port", "0"), "is not in the range"),
        (("ui", "--report-port", "-1"), "is not in the range"),
    ],
)
def test_a_number_that_nothing_can_hold_is_refused(tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    refused = command(*arguments, home=tmp_path)
    assert refused.returncode == 2
    assert why in refused.stderr


@pytest.mark.parametrize(
    "arguments", [("evaluate", "examples", "--output", ""), ("export", "d", "--format", "atif", "--output", "")]
)
def test_an_empty_output_is_not_the_working_folder(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    refused = command(*arguments, home=tmp_path)
    assert refused.returncode == 2
    assert "Invalid value for '--output': the path is empty" in refused.stderr


@pytest.mark.parametrize("server", ["ui", "receive"])
@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("", "the address is empty"),
        ("203.0.113.7", "this machine has no address '203.0.113.7' ("),
        ("256.1.1.1", "this machine has no address '256.1.1.1' ("),
        ("a..b", "this machine has no address 'a..b' ("),
    ],
)
def test_what_is_no_address_of_this_machine_is_refused(tmp_path: Path, server: str, host: str, why: str) -> None:
    refused = command(server, "--host", host, home=tmp_path)
    assert refused.returncode == 2
    assert f"Invalid value for '--host': {why}" in refused.stderr


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tau-bench", "did you mean 'tau_bench'?"),
        ("openai", " or 'openai_messages'"),
        ("", " a format; `evaluation-assets"),
    ],
)
def test_a_format_that_does_not_exist_is_refused_with_what_may_be_meant(tmp_path: Path, name: str, meant: str) -> None:
    refused = command("import", "examples/drops", "--format", name, home=tmp_path)
    assert refused.returncode == 2
    assert f"{name!r} is not a format" in refused.stderr
    assert meant in refused.stderr
    assert len(refused.stderr) < 400
