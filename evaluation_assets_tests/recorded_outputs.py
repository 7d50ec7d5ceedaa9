"""Digests of what small inputs become, by the version string that stands for it: `recorded_outputs.json`.

    python -m evaluation_assets_tests.recorded_outputs

records them anew, after the version strings of what has changed are raised.
"""

import hashlib
import importlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.decisions.form import DECIDED
from evaluation_assets.core.judging.evaluators.case import case_of
from evaluation_assets.core.judging.own.view import view_of
from evaluation_assets.core.judging.prompts import WRITTEN, render, reply_schema
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.selection import Selection
from evaluation_assets.core.judging.subjects import Chain, trajectory_chain, with_claims, with_images
from evaluation_assets.core.pipeline.failure_groups import group_rows, member_rows, read_runs
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets_tests.coding_sessions import ClaudeSession
from evaluation_assets_tests.core.making import trajectory
from evaluation_assets_tests.images import png

RECORDED = Path(__file__).with_suffix(".json")
EXAMPLES = Path(__file__).parents[1] / "examples"

TABLES: Mapping[str, Sequence[str]] = {
    "evaluation_assets.defs.ingest:READER_VERSION": ("raw_trajectories", "images", "unreadable_records"),
    "evaluation_assets.defs.ingest:PREPROCESSING_VERSION": (
        "preprocessed_trajectories",
        "rejected_records",
        "clips",
    ),
    "evaluation_assets.core.judging.rules.judge:RULES_VERSION": (
        "clip_verdicts/rules",
        "category_verdicts/rules",
        "trajectory_verdicts/rules",
        "session_verdicts/rules",
    ),
    "evaluation_assets.core.scoring.panel_scores:SCORING_VERSION": (
        "clip_scores",
        "category_assessments",
        "trajectory_scores",
        "panel_reliability",
    ),
    "evaluation_assets.defs.tool_use:TOOL_USE_VERSION": ("tool_use_results", "failure_patterns"),
    "evaluation_assets.defs.coding_work:CODING_VERSION": ("coding_work",),
    "evaluation_assets.defs.constraints:CONSTRAINTS_VERSION": ("constraint_results",),
    "evaluation_assets.defs.sessions:SESSIONS_VERSION": ("session_analyses",),
    "evaluation_assets.core.sections.findings.gathering:GATHERING_VERSION": ("findings", "claims"),
    "evaluation_assets.core.sections.findings.process_score:PROCESS_VERSION": ("process_scores",),
    "evaluation_assets.core.pipeline.outcomes:OUTCOMES_VERSION": ("predicted_outcomes",),
    "evaluation_assets.defs.regression:REGRESSION_VERSION": ("task_metrics", "score_history"),
    "evaluation_assets.defs.reviewing:REVIEWING_VERSION": ("review_queue",),
}
"""In the order of the data flow: what changes in one table may change in later ones."""

GROUPING = "evaluation_assets.core.sections.failure_groups.grouping:GROUPING_VERSION"
REPORT = "evaluation_assets.defs.reports:REPORT_VERSION"
PROMPT = "evaluation_assets.core.judging.prompts:PROMPT_VERSION"
QUICK = "evaluation_assets.core.judging.selection:QUICK_VERSION"
IMAGES = "evaluation_assets.core.judging.selection:IMAGES_VERSION"
CLAIMS = "evaluation_assets.core.judging.answer_claims:CLAIMS_VERSION"
PROBABILITY = "evaluation_assets.core.judging.selection:PROBABILITY_VERSION"
DECISION = "evaluation_assets.core.judging.decisions.form:DECISION_VERSION"
VIEW = "evaluation_assets.core.judging.own.judge:VIEW_VERSION"
CASE = "evaluation_assets.core.judging.evaluators.case:CASE_VERSION"

CHANGING = frozenset({"run_id", "evaluated_at", "judged_at", "created_at", "latency_s", "duration_s"})
"""Columns and keys that no two runs have in common."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A version string, and the digest of what it stands for."""

    version: str
    digest: str


def recorded() -> dict[str, Recorded]:
    """What is checked in."""
    return {name: Recorded(**each) for name, each in json.loads(RECORDED.read_text()).items()}


def computed() -> dict[str, Recorded]:
    """What this code makes of the inputs, in the order of the data flow."""
    outputs = {**dict(_of_a_run()), **_of_prompts()}
    return {name: Recorded(_version(name), _digest(output)) for name, output in outputs.items()}


def findings(before: Mapping[str, Recorded], now: Mapping[str, Recorded]) -> list[str]:
    """What to do about the first output that differs; later ones may differ because of it."""
    for name, each in now.items():
        known = before.get(name)
        if known == each:
            continue
        again = "record anew: python -m evaluation_assets_tests.recorded_outputs"
        if known is None or known.version != each.version:
            return [f"{name} is {each.version}; {again}"]
        return [f"an output changed and its version did not: raise {name}, then {again}"]
    return []


def _of_a_run() -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        inputs = Path(folder) / "coding.jsonl"
        session = ClaudeSession().user("Fix the test").bash("pytest -q", "1 failed", code=1)
        session.bash("pytest -q", "1 passed").says("Done.")
        inputs.write_text("".join(f"{json.dumps(line)}\n" for line in session.lines))
        home.mkdir()
        (home / "checks.yaml").write_bytes((EXAMPLES / "constraints" / "checks.yaml").read_bytes())
        weather = [EXAMPLES / "tool_use" / "weather.jsonl", "--suite", EXAMPLES / "suites" / "weather.yaml"]
        others = [EXAMPLES / "constraints" / "support.jsonl", EXAMPLES / "sessions" / "teams.json", inputs]
        said: list[str] = []
        for arguments in (weather, others):
            command = ["evaluate", *map(str, arguments), "--home", str(home), "--quiet"]
            said.append(CliRunner().invoke(main, command, catch_exceptions=False).output)
        made = Installation.at(str(home))
        drops = ("coding", "support", "teams", "weather")
        unfinished = [drop for drop in drops if not (home / "reports" / drop / "report.json").exists()]
        assert not unfinished, "\n".join((f"not evaluated: {', '.join(unfinished)}", *said))
        for name, tables in TABLES.items():
            yield name, [list(made.table(drop, *table.split("/")).rows()) for table in tables for drop in drops]
        found = read_runs(made, str)
        yield GROUPING, (list(member_rows(found)), group_rows(found, {}))
        yield REPORT, [json.loads((home / "reports" / drop / "report.json").read_text()) for drop in drops]


def _of_prompts() -> dict[str, Any]:
    run = trajectory("<think>look</think><find><id>4</id></find><result>found</result><answer>It is 4.</answer>")
    chain = trajectory_chain(run, clips_of(run), load_rubrics())
    quick, claiming = Selection.of(None, "quick", None).chain(chain), with_claims(chain)
    probable = Selection.of(None, None, None, probability=True).chain(chain)
    assert quick is not None
    assert probable is not None
    return {
        PROMPT: _prompts(chain),
        QUICK: _prompts(quick),
        PROBABILITY: _prompts(probable),
        IMAGES: _prompts(_with_image()),
        CLAIMS: [(_prompts(claiming), asdict(WRITTEN.asked_for(claiming.subjects[0])))],
        DECISION: [
            (asdict(render(subject, (), "fence", 100_000, form=DECIDED)), asdict(DECIDED.asked_for(subject)))
            for subject in (*chain.subjects, *quick.subjects)
        ],
        VIEW: [asdict(view_of(subject)) for subject in chain.subjects],
        CASE: [asdict(case_of(subject)) for subject in chain.subjects],
    }


def _with_image() -> Chain:
    image = Image("0f3c5e7a9b1d2468", "image/png", 4, 3, png())
    run = trajectory(f"<answer>It is [image: image/png, 70 bytes, {image.digest}].</answer>")
    return with_images(trajectory_chain(run, clips_of(run), load_rubrics()), [image])


def _prompts(chain: Chain) -> list[Any]:
    return [
        (
            asdict(render(subject, (), "fence", 100_000)),
            reply_schema(subject.chain_rubrics, with_probability=subject.asks_probability),
        )
        for subject in chain.subjects
    ]


def _version(name: str) -> str:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _digest(output: Any) -> str:
    return hashlib.sha256(json.dumps(_lasting(output), sort_keys=True, default=str).encode()).hexdigest()[:16]


def _lasting(value: Any) -> Any:
    """A value without what no two runs have in common, and with figures that any processor gives."""
    if isinstance(value, dict):
        return {str(key): _lasting(each) for key, each in value.items() if key not in CHANGING}
    if isinstance(value, (list, tuple)):
        return [_lasting(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({name: asdict(each) for name, each in computed().items()}, indent=2) + "\n")
