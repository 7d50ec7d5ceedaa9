"""Cascades of evaluated drops: what is read from verdict tables, fitted to labels, and saved."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from evaluation_assets.core.judging.cascade.evidence import Evidence, Statement, accepting_stages, read_evidence
from evaluation_assets.core.judging.cascade.fitted import LABELS, FittedCascade
from evaluation_assets.core.judging.cascade.fitting_drops import CannotFit, fit_cascade
from evaluation_assets.core.judging.cascade.savings import left_to_people, savings_of
from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.report.judges.cascade_text import savings_lines
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.core.judging.cascade.simulated import STAGES, drawn

JUDGES = ("small", "one", "other")
SUBJECTS = drawn(np.random.default_rng(8), 600)


def row(position: int, judge: str, **more: Any) -> dict[str, Any]:
    said = float(SUBJECTS.subjects.signals[judge][position])
    given = {"outcome": "abstained", "scores": {}} if np.isnan(said) else {"outcome": "scored", "scores": {"c": said}}
    known = {
        "drop": "d",
        "trajectory_id": SUBJECTS.clusters[position],
        "clip_index": position,
        "judge": judge,
        "rubric": "general",
        "cost_usd": 0.01 if judge == "one" else None,
    }
    return dict.fromkeys(CLIP_VERDICTS.schema.names) | known | given | more


def installed(folder: Path, **rows: list[dict[str, Any]]) -> Installation:
    home = Installation.at(str(folder))
    for judge, own in rows.items():
        write(home.table("d", "clip_verdicts", judge).path, Stream(CLIP_VERDICTS, batched(own, CLIP_VERDICTS)))
    return home


def everything(judge: str) -> list[dict[str, Any]]:
    return [row(position, judge) for position in range(len(SUBJECTS.passes))]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return installed(tmp_path_factory.mktemp("home"), **{judge: everything(judge) for judge in JUDGES})


def labels() -> list[dict[str, Any]]:
    return [
        {"drop": "d", "trajectory_id": SUBJECTS.clusters[position], "clip_index": position, "criterion": "c"}
        | {"label": float(passes)}
        for position, passes in enumerate(SUBJECTS.passes)
    ]


def fitted(home: Installation, given: list[dict[str, Any]], reference: str | None = None) -> FittedCascade:
    more = {"alpha": 0.12, "delta": 0.1, "unit": "trajectory", "pass_score": 0.6}
    return fit_cascade(home, ["d"], STAGES, given, reference=reference, **more)  # type: ignore[arg-type]


def test_labels_of_clips_are_fitted_and_what_is_accepted_saves_calls(home: Installation) -> None:
    cascade = fitted(home, labels())
    (criterion,) = cascade.criteria
    assert (cascade.reference, criterion.level, criterion.criterion) == (LABELS, "clip", "c")
    assert criterion.accepted > criterion.subjects / 2
    assert criterion.errors / criterion.accepted < 0.12
    found = savings_of(cascade, read_evidence(home, ["d"], JUDGES, pass_score=0.6))
    assert found.subjects == len(SUBJECTS.passes)
    assert sum(found.accepted) + len(found.undecided) == found.subjects
    assert found.asked == (found.subjects, found.subjects - found.accepted[0])
    by_judge = {each.judge: each for each in found.judges}
    assert by_judge["small"].spared == 0
    assert by_judge["one"].spared == found.accepted[0] > 0
    assert by_judge["one"].usd == pytest.approx(0.01 * found.accepted[0])
    assert by_judge["other"].usd is None
    line = next(line for line in savings_lines(cascade, found, 1) if "one is spared" in line)
    assert line.endswith("USD at the mean cost of its verdicts)")
    assert left_to_people(home, "d", cascade, STAGES) == {key.trajectory_id for key in found.undecided}
    assert left_to_people(home, "d", cascade, [["small"], ["one"]]) == set(), "fitted for other stages"


def test_what_a_cascade_saves_is_told_also_where_nothing_is_accepted(home: Installation) -> None:
    cascade = fitted(home, labels())
    said = read_evidence(home, ["d"], JUDGES, pass_score=0.6)
    assert next(savings_lines(cascade, savings_of(cascade, said), 1)).startswith(
        f"In 1 drop, {len(SUBJECTS.passes):,} subjects"
    )
    unshown = [each.model_copy(update={"thresholds": ()}) for each in cascade.criteria]
    nothing = cascade.model_copy(update={"criteria": tuple(unshown)})
    assert list(savings_lines(nothing, savings_of(nothing, said), 1)) == [
        "No criterion accepts a verdict, so every judge is asked about everything: no call is saved."
    ]


def test_a_judge_as_reference_is_no_stage_and_what_is_left_is_its_to_decide(home: Installation) -> None:
    cascade = fitted(home, [], reference="other")
    assert cascade.stages == (("small",), ("one",))
    assert cascade.fits(STAGES)
    assert left_to_people(home, "d", cascade, STAGES) == set()


def test_a_judge_that_was_spared_subjects_cannot_be_fitted(tmp_path: Path) -> None:
    rows = {judge: everything(judge) for judge in JUDGES}
    rows["one"] = rows["one"][5:]
    with pytest.raises(CannotFit, match=r"judge one was not asked about 5 of .* without cascade\.json"):
        fitted(installed(tmp_path, **rows), labels())


def test_without_labels_there_is_nothing_to_fit(home: Installation) -> None:
    with pytest.raises(CannotFit, match="no subject with labels of people"):
        fitted(home, [])


def test_probabilities_replace_the_scores_of_judges_that_report_them(tmp_path: Path) -> None:
    rows = [row(0, "one", scores={"c": 1.0}, outcome="scored", probabilities={"c": 0.7})]
    rows += [row(0, "one", scores={"c": 1.0}, outcome="scored", probabilities={"c": 0.8}, sample=1)]
    said = read_evidence(installed(tmp_path, one=rows), ["d"], ["one"], pass_score=0.6)
    assert said.with_probability == ("one",)
    assert [each.statements["one"].signals for each in said.subjects.values()] == [{"c": pytest.approx(0.75)}]


@pytest.mark.parametrize(("pass_score", "passes"), [(0.5, 0.9), (0.6, 0.7), (1.0, 0.4)])
def test_a_distribution_passes_with_the_probability_of_the_scores_from_pass_score_up(
    tmp_path: Path, pass_score: float, passes: float
) -> None:
    shares = {0.0: 0.1, 0.5: 0.2, 0.6: 0.3, 1.0: 0.4}
    own = [{"score": score, "probability": share} for score, share in shares.items()]
    rows = [row(0, "one", scores={"c": 0.68}, outcome="scored", distributions={"c": own})]
    said = read_evidence(installed(tmp_path, one=rows), ["d"], ["one"], pass_score=pass_score)
    assert said.with_probability == ("one",)
    assert [each.statements["one"].signals for each in said.subjects.values()] == [{"c": pytest.approx(passes)}]


def test_tables_that_were_written_before_there_were_distributions_are_evidence(tmp_path: Path) -> None:
    home = installed(tmp_path, one=[row(0, "one", scores={"c": 0.5}, outcome="scored")])
    path = home.table("d", "clip_verdicts", "one").path.path
    pq.write_table(pq.read_table(path).drop_columns(["distributions", "entropies"]), path)
    said = read_evidence(home, ["d"], ["one"], pass_score=0.6)
    assert said.with_probability == ()
    assert [each.statements["one"].signals for each in said.subjects.values()] == [{"c": 0.5}]


def test_the_verdict_of_a_reference_is_its_score_also_where_it_reports_probabilities(tmp_path: Path) -> None:
    rows = {judge: everything(judge) for judge in JUDGES}
    plain = fitted(installed(tmp_path / "plain", **rows), [], reference="other")
    rows["other"] = [each | {"probabilities": {"c": 0.59}} for each in rows["other"]]
    assert fitted(installed(tmp_path / "more", **rows), [], reference="other").criteria == plain.criteria


def test_a_subject_is_accepted_with_its_last_criterion_and_not_without_a_fitted_one(home: Installation) -> None:
    cascade = fitted(home, labels())
    sure, unsure = Statement({"c": 0.99}, {"c": 0.99}), Statement({"c": 0.5}, {"c": 0.5})
    said = [
        Evidence("general", ("c",), {"small": sure, "one": sure, "other": sure}),
        Evidence("general", ("c",), {"small": unsure, "one": unsure, "other": unsure}),
        Evidence("general", ("unlabelled",), {"small": Statement({"unlabelled": 0.99}, {"unlabelled": 0.99})}),
    ]
    assert accepting_stages(cascade, "clip", said)[0] in (0, 1)
    assert accepting_stages(cascade, "clip", said)[1:] == [None, None]
    assert accepting_stages(cascade, "trajectory", said) == [None, None, None]
