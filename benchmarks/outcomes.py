"""What scores without a model say about success: AUROC against recorded outcomes, and who says "done" when it is not.

    python -m benchmarks.outcomes [DATA]

DATA is a folder with the data sets `tau-bench`, `tau2-bench`, `agent-process-bench`, `who-and-when`, `inspect-logs` and
`mini-swe-agent`; default: the folder that the tests use. Recorded outcomes are compared with scores, never shown to the
judge. An AUROC is the chance that a run that succeeded scores above one that did not; ties count half, 0.5 is chance.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from benchmarks.data_sets import given_folder, trajectories
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judgement, judge_chains
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import Chain, clip_chain, trajectory_chain
from evaluation_assets.core.scoring.panel_scores import mean_over_clips, tool_averages
from evaluation_assets.core.sections.sessions.analysing import analyse
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.interactions import is_session
from evaluation_assets.core.sections.sessions.similarity import LexicalSimilarity
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import evaluate
from evaluation_assets.core.suites.matching import align
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule, Suite
from evaluation_assets.core.text.nullable import mean_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

RUBRICS = load_rubrics()
DATA_SETS = {
    "tau-bench": "tau-bench/*.json",
    "tau2-bench": "tau2-bench/ab/*.json",
    "agent-process-bench": "agent-process-bench/*.jsonl",
    "Who&When": "who-and-when/**/*.json",
    "inspect-logs": "inspect-logs/*",
    "mini-swe-agent": "mini-swe-agent/trajs/*.json",
}
GOLD = ("tau2-bench", "tau-bench")
"""Data sets with gold calls. The rule for scores was chosen on tau2-bench; tau-bench was looked at afterwards."""


@dataclass(frozen=True)
class Judged:
    """A run with a recorded outcome, and what the embedded judge says of it."""

    trajectory: Trajectory
    overall: float | None
    session: float | None
    completion: float | None
    session_completion: float | None

    @property
    def success(self) -> bool:
        """The recorded outcome."""
        return self.trajectory.success is True


def main() -> None:
    folder = given_folder()
    everything = {name: [judged(run) for run in runs(folder, name)] for name in DATA_SETS}
    print("The embedded judge, AUROC against recorded success:")
    for name, found in everything.items():
        for what in ("overall", "session"):
            print(f"  {name:20} {what:8} {_auroc([(getattr(each, what), each.success) for each in found])}")
    print("Suites of gold calls, AUROC against recorded success:")
    for name in GOLD:
        found = [suite_scores(each.trajectory) for each in everything[name]]
        for what, place in (("plain recall of gold calls", 0), ("the suite's score", 1)):
            scored = [(scores[place], each.success) for scores, each in zip(found, everything[name], strict=True)]
            print(f"  {name:20} {what:26} {_auroc(scored)}")
    print('task_completion of the embedded judge, "done" from 0.5 on:')
    for name, found in everything.items():
        print(f"  {name:20} trajectory {Completion.of((each.completion, each.success) for each in found)}")
        sessions = [each for each in found if is_session(each.trajectory)]
        print(f"  {'':20} session    {Completion.of((each.session_completion, each.success) for each in sessions)}")


def runs(folder: Path, name: str) -> Iterator[Trajectory]:
    """The runs of a data set that have a recorded outcome, in the file or in the report of their tests."""
    for path in sorted(folder.glob(DATA_SETS[name])):
        for run in trajectories(path):
            success = _resolved(path) if run.success is None else run.success
            if success is not None:
                yield replace(run, success=success)


def _resolved(path: Path) -> bool | None:
    """Whether the tests of a coding run pass, as `logs/<instance>/report.json` beside its folder says."""
    report = path.parents[1] / "logs" / path.name.removesuffix(".traj.json") / "report.json"
    return orjson.loads(report.read_bytes())["resolved"] if report.is_file() else None


def judged(run: Trajectory) -> Judged:
    """The embedded judge's scores, as the assets make them."""
    clips = clips_of(run)
    verdicts = _verdicts([clip_chain(run, clips, RUBRICS), trajectory_chain(run, clips, RUBRICS)])
    rows = [
        {
            "trajectory_id": run.id,
            "clip_index": clip.index,
            "tool_type": clip.tool_type,
            "criterion": key,
            "mean": score,
        }
        for clip in clips
        for key, score in verdicts[f"clip {clip.index}"].items()
    ]
    session, session_completion = None, None
    if is_session(run):
        said = _verdicts([session_chain(run, RUBRICS)])
        means = {
            name.split(" ", 1)[1]: {key: score for key, score in scores.items() if score is not None}
            for name, scores in said.items()
        }
        session = analyse(SessionEvidence(run, LexicalSimilarity()), means, ["rules"]).overall_score
        session_completion = means["session"].get("task_completion")
    return Judged(
        run,
        mean_over_clips(tool_averages(rows)),
        session,
        verdicts["trajectory trajectory"]["task_completion"],
        session_completion,
    )


def suite_scores(run: Trajectory) -> tuple[float | None, float | None]:
    """Share of the gold calls that were made exactly, `None` without one, and the score of a case made of them."""
    case = Case(
        id=run.task_id,
        message=run.task or "a task",
        expected_calls=tuple(_expected(call["name"], call["arguments"]) for call in run.labels["expected_calls"]),
        match="same_effects",
        keywords=tuple(map(str, run.labels.get("expected_outputs", ()))),
    )
    right = align(case.expected_calls, run_of(run).calls).right
    recall = right / len(case.expected_calls) if case.expected_calls else None
    return recall, evaluate(case, run_of(run), Suite(name="gold calls", cases=(case,))).score


def _expected(tool: str, arguments: dict[str, object]) -> ExpectedCall:
    parameters = {name: ParameterRule(equals=value) for name, value in arguments.items()}
    return ExpectedCall(tool=tool, parameters=parameters, other_parameters="forbidden")


@dataclass(frozen=True)
class Completion:
    """How often a judge says whether a task was done, and how often rightly."""

    runs: int
    spoken: int
    right: int
    failed: int
    failed_called_done: int

    @classmethod
    def of(cls, scored: Iterable[tuple[float | None, bool]]) -> "Completion":
        listed = list(scored)
        said = [(score >= 0.5, success) for score, success in listed if score is not None]
        return cls(
            runs=len(listed),
            spoken=len(said),
            right=sum(done == success for done, success in said),
            failed=sum(not success for _, success in listed),
            failed_called_done=sum(done and not success for done, success in said),
        )

    def __str__(self) -> str:
        return (
            f"speaks of {self.spoken:3} of {self.runs:3}, rightly of {self.right:3}; "
            f"calls {self.failed_called_done} of {self.failed} failed runs done"
        )


def auroc(scored: Iterable[tuple[float | None, bool]]) -> float | None:
    """The chance that a run that succeeded scores above one that failed; runs without a score are left out."""
    listed = [(score, success) for score, success in scored if score is not None]
    won, lost = ([score for score, success in listed if success is wanted] for wanted in (True, False))
    return mean_of((one > other) + (one == other) / 2 for one in won for other in lost)


def _auroc(scored: Sequence[tuple[float | None, bool]]) -> str:
    figure = auroc(scored)
    known = [success for score, success in scored if score is not None]
    value = "   -" if figure is None else f"{figure:.2f}"
    return f"{value} ({sum(known)} succeeded, {len(known) - sum(known)} failed)"


def _verdicts(chains: list[Chain]) -> dict[str, dict[str, float | None]]:
    async def all_of_them() -> list[Judgement]:
        return [judgement async for chain in judge_chains(RulesJudge(), chains) for judgement in chain]

    found = asyncio.run(all_of_them())
    return {f"{each.subject.level} {each.subject.name}": dict(each.verdict.scores) for each in found}


if __name__ == "__main__":
    main()
