"""A run that was killed is resumed from its journal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from upath import UPath

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.suites.agents.journal import Journal, JournalInUse
from evaluation_assets.core.suites.agents.tools import CallOutcome
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.suites.agents.running import DONE, Running, agent, call, results, steps
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.started_mcp_server import ROOT

pytestmark = pytest.mark.slow

EXPRESSIONS = {
    "compound_interest": "10000 * (1 + 0.05 / 12) ** 36",
    "projectile": "hypot(50 * cos(pi / 4) * 2, 50 * sin(pi / 4) * 2 - 9.8 / 2 * 2 ** 2)",
    "sphere": "4 * pi * (3 * 500 / (4 * pi)) ** (2 / 3)",
    "standard_deviation": "sqrt((12**2 + 15**2 + 18**2 + 22**2 + 25**2 + 30**2 + 35**2) / 7 - (157 / 7) ** 2)",
    "acidity": "-log10(3.5e-5)",
    "mortgage": "200000 * (0.045 / 12) / (1 - (1 + 0.045 / 12) ** -360)",
    "photon": "6.626e-34 * 3e8 / 550e-9",
    "quadratic": "(7 + sqrt(7 ** 2 - 4 * 3 * 2)) / (2 * 3)",
}
SLOTS = 3


@pytest.mark.parametrize(("transport", "protocol"), [("stdio", "openai"), ("http", "anthropic")])
def test_the_calculator_suite_survives_a_kill(
    tmp_path: Path, server: ModelServer, mcp: dict[str, Any], calls_file: Path, protocol: str
) -> None:
    path = Path(ROOT) / "examples" / "suites" / "calculator.xml"
    cases = {case.id: case for case in load_suite(UPath(path)).suite.cases}
    answers = {name: case.answer.value for name, case in cases.items() if case.answer is not None}
    assert answers.keys() == EXPRESSIONS.keys()
    solving = [
        steps(
            cases[name].prompt[:20],
            {"calls": [call(expression), call(expression, "measure")]},
            {"calls": [call(f"2 * ({expression})", "measure")]},
            {"text": DONE.format(answers[name])},
        )
        for name, expression in EXPRESSIONS.items()
    ]
    who = agent(server, protocol, tools={"python": ["calculator"], "mcp": [mcp]}, max_concurrency=SLOTS)
    file = tmp_path / "solver.yaml"
    file.write_text(yaml.safe_dump(who.model_dump(mode="json", exclude_unset=True)))
    home = Installation.at(str(tmp_path / "home"))

    def begun() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "evaluation_assets.cli", "suite", "run", str(path), "--agent", str(file)]
        return subprocess.Popen(
            [*command, "--home", home.root.path, "--quiet"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    # An attempt asks three questions: after so many, some are finished and others under way. The next gets no reply.
    answered = 5 * SLOTS - 1
    server.script([rule("slow", after=answered, seconds=3600), *solving])
    with begun() as killed:
        while len(server.requests(bodies=False)) <= answered:
            assert killed.poll() is None
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
    server.script(solving)
    before = server.requests()
    (journal,) = home.unfinished_runs.glob("*.jsonl")
    with Journal.opened(journal, "") as kept:
        finished = [name for name in answers if kept.has((name, 0))]
    assert 0 < len(finished) < 8 and not scan(home.drops).drops

    with begun() as resumed:
        said, _ = resumed.communicate()
    assert resumed.returncode == 0, said
    assert "right answers      8 of 8 (100.0%)" in said and "outcome            passed 8 of 8 (100.0%" in said
    asked = server.requests()
    words = {name: cases[name].prompt[:20] for name in finished}
    again = [str(request.body) for request in asked[len(before) :]]
    assert not [name for name, begins in words.items() if any(begins in body for body in again)]
    # Every question and every call once, but for what was in flight: one of either for each slot.
    measured = calls_file.read_text().splitlines()
    assert len({request.sha256 for request in asked}) == 24 and len(set(measured)) == 16
    assert len(asked) - 24 + len(measured) - 16 <= SLOTS

    (drop,) = scan(home.drops).drops.values()
    found = {
        item.id: item for item in read_trajectories(drop.sources, UnmappedFields()) if isinstance(item, Trajectory)
    }
    for name, answer in answers.items():
        assert found[name].final_answer == answer
        own, first, second = (float(result.split()[0]) for result in results(found[name]))
        assert own == first == second / 2 == pytest.approx(float(answer), rel=2e-3)
        assert [step.call.server for step in found[name].calls if step.call] == [None, "tests", "tests"]
    assert [row["passed"] for row in home.table(drop.key, "tool_use_results").rows()] == [True] * 8
    assert (home.reports(drop.key) / "report.html").exists()


def test_only_one_process_at_a_time_runs_an_agent_on_a_suite(running: Running, server: ModelServer) -> None:
    path = running.places.unfinished / "x.jsonl"
    with (
        Journal.opened(path, ""),
        pytest.raises(JournalInUse, match=r"^another process .* when it has ended"),
        Journal.opened(path, ""),
    ):
        pass


def test_a_journal_that_was_cut_is_read_up_to_the_cut(running: Running) -> None:
    path = running.places.unfinished / "x.jsonl"
    with Journal.opened(path, "a") as journal:
        journal.keep(("c", 0), 1, [CallOutcome("one", None, 1.0)])
    with path.open("ab") as file:
        file.write(orjson.dumps({"case": "c", "trial": 0, "step": 2})[:-4])
    with Journal.opened(path, "b") as journal:
        assert journal.series == "a" and journal.results(("c", 0)) == {1: [CallOutcome("one", None, 1.0)]}
        journal.keep(("c", 0), 2, [CallOutcome("two", "e", 2.0)])
    with Journal.opened(path, "b") as journal:
        assert list(journal.results(("c", 0))) == [1, 2]


def test_damaged_entries_of_a_journal_are_passed_over(running: Running) -> None:
    path = running.places.unfinished / "x.jsonl"
    with Journal.opened(path, "a") as journal:
        journal.keep(("c", 0), 1, [CallOutcome("one", None, 1.0)])
    newer = orjson.dumps({"case": "c", "trial": 0, "step": 2, "outcomes": [{"of": "another version"}]})
    with path.open("ab") as file:
        file.write(b"\n".join([b"\0\0", b"[]", b'"x"', b"7", b'{"trajectory": 1}', newer, b""]))
    with Journal.opened(path, "b") as journal:
        assert journal.series == "a" and list(journal.results(("c", 0))) == [1]
        journal.keep(("c", 0), 2, [CallOutcome("two", None, 2.0)])
    with Journal.opened(path, "b") as journal:
        assert list(journal.results(("c", 0))) == [1, 2]
