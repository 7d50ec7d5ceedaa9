"""How deep the code is: the frames of our own between the command and the rows that it writes."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import evaluation_assets
from evaluation_assets.cli.main import main
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.traces.formats import registry
from evaluation_assets.core.traces.formats.readers import tagged
from evaluation_assets_tests.conftest import call, record

PACKAGE = Path(evaluation_assets.__file__).parent
MOST_TO_A_VERDICT = 10
MOST_TO_A_TRAJECTORY = 12


def frames_from_the_command() -> list[str]:
    """Frames of our own code from the function of the command to the caller of a stub, outermost first."""
    found: list[str] = []
    frame = sys._getframe(2)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(PACKAGE):
            found.append(f"{file.relative_to(PACKAGE)}: {frame.f_code.co_name}")
        frame = frame.f_back
    return found[found.index("cli/evaluate.py: evaluate") :: -1]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The frames above a reader when it gives its first trajectory, and above a judge that gives its first verdict."""
    frames: dict[str, list[str]] = {}

    class InspectingJudge(RulesJudge):
        async def judge(self, *arguments: Any, **named: Any) -> Any:
            frames.setdefault("verdict", frames_from_the_command())
            return await super().judge(*arguments, **named)

    def read(*arguments: Any) -> Iterator[Any]:
        for item in tagged.read(*arguments):
            frames.setdefault("trajectory", frames_from_the_command())
            yield item

    folder = tmp_path_factory.mktemp("frames")
    drop = folder / "drop.jsonl"
    drop.write_bytes(record("t", call("x", "found") + "<answer>4</answer>"))
    shipped = registry.FORMATS["tagged"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(registry.FORMATS, "tagged", replace(shipped, read=read))
        patched.setattr("evaluation_assets.core.judging.rules.judge.RulesJudge", InspectingJudge)
        done = CliRunner().invoke(main, ["evaluate", str(drop), "--home", str(folder / "home"), "--quiet"])
    assert done.exit_code == 0, done.output
    yield frames


def test_the_first_verdict_is_few_frames_below_the_command(seen: dict[str, list[str]]) -> None:
    assert len(seen["verdict"]) <= MOST_TO_A_VERDICT, "\n".join(seen["verdict"])


def test_the_first_trajectory_is_few_frames_below_the_command(seen: dict[str, list[str]]) -> None:
    assert len(seen["trajectory"]) <= MOST_TO_A_TRAJECTORY, "\n".join(seen["trajectory"])
