"""Packages that add readers, judges, suite formats and sinks: real distributions, found by a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[3]

GOOD = {
    "acme_evals/__init__.py": "",
    "acme_evals/reader.py": """
        from evaluation_assets.core.traces.formats.isolation import each_record
        from evaluation_assets.core.traces.trajectories.model import Agent, Interaction, Step, Trajectory, Turn

        DESCRIPTION = "Logs of Acme's agents"
        DETECTION = "records with acme_log"

        def detect(sample):
            return sample.has("acme_log")

        def read(files, unmapped):
            return each_record(files, trajectory_of)

        def trajectory_of(record):
            text = record.data["acme_log"]
            step = Step(start=0, end=len(text), message=(0, len(text)))
            turn = Turn(user_message="Go.", interactions=(Interaction(agent_id="acme", steps=(step,)),))
            return Trajectory(id=record.data["id"], task_id=record.data["id"], format="acme", task="Go.", text=text,
                              turns=(turn,), agents=(Agent(id="acme"),), final_answer=text)
    """,
    "acme_evals/checks.py": """
        from evaluation_assets.judging import judge

        @judge(level="answer")
        def polite(run):
            return "please" in run.answer
    """,
    "acme_evals/suites.py": """
        from evaluation_assets.core.suites.formats.base import Draft, SuiteFormat
        from evaluation_assets.core.suites.suite import Case

        def detect(source):
            return all("acme_case" in record for record in source.records)

        def read(source):
            draft = Draft()
            for item in source.items:
                about = {"id": item.data["acme_case"], "message": "Go.", "answer": {"value": item.data["answer"]}}
                draft.add(source, item.line, Case.model_validate(about))
            return draft

        SUITE = SuiteFormat("x", "Acme's cases", "objects with acme_case", detect, read)
    """,
    "acme_evals/sinks.py": """
        from contextlib import contextmanager
        from typing import Literal

        from evaluation_assets.core.report.sinks.settings import SinkSettings
        from evaluation_assets.core.report.sinks.sink import Delivery

        class AcmeSink(SinkSettings):
            type: Literal["acme"]
            file: str

            @contextmanager
            def opened(self):
                yield self

            def tell(self, outcome):
                with open(self.file, "a") as sink:
                    sink.write(outcome.sentence)
                return Delivery(outcome, "delivered")
    """,
}
GOOD_POINTS = """
    [evaluation_assets.readers]
    acme = acme_evals.reader
    [evaluation_assets.judges]
    polite = acme_evals.checks:polite
    [evaluation_assets.suites]
    acme = acme_evals.suites:SUITE
    [evaluation_assets.sinks]
    acme = acme_evals.sinks:AcmeSink
"""
BAD = {
    "broken_evals/__init__.py": "",
    "broken_evals/raises.py": "raise OSError('the licence server is down')",
    "broken_evals/checks.py": "import no_such_module_here",
    "broken_evals/blind.py": """
        DESCRIPTION = DETECTION = "nothing"
        def detect(sample): raise KeyError("blind")
        def read(files, unmapped): return iter(())
    """,
}
BAD_POINTS = """
    [evaluation_assets.readers]
    raises = broken_evals.raises
    a_blind = broken_evals.blind
    dialogue = broken_evals.blind
    [evaluation_assets.judges]
    unhappy = broken_evals.checks:check
    [evaluation_assets.suites]
    gone = broken_evals.nowhere
    [evaluation_assets.sinks]
    number = broken_evals.blind:DESCRIPTION
"""
USE = """
    import json, sys
    from pathlib import Path
    from upath import UPath
    from evaluation_assets.core.traces.formats.base import DropFile
    from evaluation_assets.core.traces.formats.registry import FORMATS, read_trajectories
    from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
    from evaluation_assets.core.judging.panel import InvalidPanel, judges_of, load_panel
    from evaluation_assets.core.report.sinks.opening import open_sink
    from evaluation_assets.core.report.sinks.settings import load_sinks
    from evaluation_assets.core.report.sinks.sink import DropOutcome
    from evaluation_assets.core.suites.formats.registry import load_suite

    folder = UPath(sys.argv[1])
    (run,) = read_trajectories([DropFile(folder / "log.jsonl", "log.jsonl")], UnmappedFields())
    try:
        refused = str(load_panel(folder / "unhappy.yaml"))
    except InvalidPanel as problem:
        refused = str(problem)
    loaded = load_suite(folder / "cases.jsonl")
    (settings,) = load_sinks(folder / "sinks.yaml").values()
    outcome = DropOutcome(drop="d", suite=None, verdict=None, blocks=False, sentence="All good.", markdown="",
                          labels={}, data={})
    with open_sink(settings) as sink:
        status = sink.tell(outcome).status
    panel = load_panel(folder / "panel.yaml")
    print(json.dumps({
        "formats": list(FORMATS), "run": [run.format, run.text], "suite": [loaded.format, len(loaded.suite.cases)],
        "sink": [settings.place, status],
        "judge": [judge.model for judge in judges_of(panel, "sqlite://")], "refused": refused,
        "levels": [sorted(judge.selection.levels) for judge in panel.judges],
    }))
"""


def distribution(site: Path, name: str, files: dict[str, str], points: str) -> None:
    """Install a package as pip would leave it."""
    for path, source in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(dedent(source))
    about = site / f"{name}-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(dedent(points))


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[str]], str]:
    """What a process found with a good and a broken package installed, and its warnings."""
    folder = tmp_path_factory.mktemp("plugins")
    distribution(folder / "site", "acme-evals", GOOD, GOOD_POINTS)
    distribution(folder / "site", "broken-evals", BAD, BAD_POINTS)
    (folder / "log.jsonl").write_text('{"id": "a", "acme_log": "One moment, please."}\n')
    (folder / "cases.jsonl").write_text('{"acme_case": "a", "answer": "4"}\n{"acme_case": "b", "answer": "5"}\n')
    (folder / "sinks.yaml").write_text(f"sinks: {{ours: {{type: acme, file: '{folder / 'told.txt'}'}}}}")
    (folder / "panel.yaml").write_text("judges: [{name: polite, provider: python, function: polite}]")
    (folder / "unhappy.yaml").write_text("judges: [{name: unhappy, provider: python, function: unhappy}]")
    done = subprocess.run(
        [sys.executable, "-c", dedent(USE), str(folder)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{folder / 'site'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "told.txt").read_text() == "All good."
    return json.loads(done.stdout), done.stderr


def test_a_package_adds_a_reader_a_judge_a_suite_format_and_a_sink(used: tuple[dict[str, list[str]], str]) -> None:
    found, _ = used
    assert found["formats"][:3] == ["a_blind", "acme", "canonical"], "readers of packages are asked first"
    assert found["run"] == ["acme", "One moment, please."]
    assert found["judge"] == ["polite"]
    assert found["levels"] == [["answer"]]
    assert found["suite"] == ["acme", 2]
    assert found["sink"] == ["acme", "delivered"]


def test_a_broken_plugin_is_left_out_with_a_warning_that_names_its_package(
    used: tuple[dict[str, list[str]], str],
) -> None:
    found, warnings = used
    assert "raises" not in found["formats"]
    assert found["formats"].count("dialogue") == 1
    package = "of package broken-evals 1.2"
    for line in (
        f"plugin 'raises' {package} (evaluation_assets.readers, broken_evals.raises) is left out: OSError: the licence",
        f"plugin 'dialogue' {package} (evaluation_assets.readers, broken_evals.blind) is left out: the name 'dialogue'",
        f"plugin 'a_blind' {package} (evaluation_assets.readers, broken_evals.blind) failed to look at a file: Key",
        f"plugin 'gone' {package} (evaluation_assets.suites, broken_evals.nowhere) is left out: ModuleNotFoundError",
        f"plugin 'number' {package} (evaluation_assets.sinks, broken_evals.blind:DESCRIPTION) is left out: TypeError",
    ):
        assert line in warnings
    assert str(found["refused"]).endswith(
        f"plugin 'unhappy' {package} (evaluation_assets.judges, broken_evals.checks:check) cannot be loaded "
        "(ModuleNotFoundError: No module named 'no_such_module_here')"
    )
