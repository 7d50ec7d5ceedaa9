"""Review queue, labels, judge cards and corrected pass rates; judges that others recorded are recomputed."""

import csv
import io
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.lake.tables import PREPROCESSED_TRAJECTORIES, PROCESS_SCORES, TOOL_USE_RESULTS
from evaluation_assets.core.pipeline.checks.human_review import readable
from evaluation_assets.core.review.calibrated import Stratum, pass_rate
from evaluation_assets.core.review.judge_cards import JudgeCard, judge_card, kept_out
from evaluation_assets.core.review.labels import Label, UnreadableLabel, read_labels
from evaluation_assets.core.review.queue import (
    Reason,
    as_csv,
    as_json_lines,
    queue_rows,
    reason_by_judges,
    with_low_scores,
)
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.scoring.intervals import wilson
from evaluation_assets.core.scoring.reliability import cohen_kappa
from evaluation_assets.core.text.nullable import mean_label
from evaluation_assets.core.text.report_addresses import ReportAddress
from evaluation_assets_tests.core.stored_rows import stored
from evaluation_assets_tests.third_party import data

SETTINGS = ReviewSettings(pass_score=0.5)


@pytest.mark.parametrize(
    ("score", "spread", "reason"),
    [(None, None, "unscored"), (0.59, 0.5, "low"), (0.9, 0.2, "disagreement"), (0.64, 0.1, "threshold")],
)
def test_why_a_trajectory_is_reviewed(score: float | None, spread: float | None, reason: str) -> None:
    assert reason_by_judges("t", score, spread, ReviewSettings(), is_undecided=False) == reason


@pytest.mark.parametrize(
    ("reasons", "reason", "detail"),
    [
        ({"finding": "finding loop"}, "finding", "finding loop"),
        ({"failed_case": "case c: score too low", "finding": "finding loop"}, "failed_case", "case c: score too low"),
        ({"finding": "finding loop", "low": "case score 0.55"}, "finding", "finding loop; case score 0.55"),
    ],
)
def test_a_run_in_which_something_is_wrong_is_reviewed_whatever_its_score(
    tmp_path: Path, reasons: dict[Reason, str], reason: str, detail: str
) -> None:
    trajectories = stored(tmp_path, PREPROCESSED_TRAJECTORIES, [{"trajectory_id": "t", "task": ""}])
    judged = [{"trajectory_id": "t", "criterion": "overall", "adjusted_mean": 0.9, "std": None}]
    told: dict[Reason, dict[str, str]] = {name: {"t": said} for name, said in reasons.items()}
    (row,) = queue_rows("d", trajectories, judged, ReviewSettings(), told, frozenset())
    assert (row["reason"], row["detail"]) == (reason, detail)


def test_low_scores_by_test_cases_and_findings_are_reviewed_too(tmp_path: Path) -> None:
    cases = stored(
        tmp_path,
        TOOL_USE_RESULTS,
        [
            {"trajectory_id": "low", "passed": True, "score": 0.55},
            {"trajectory_id": "failed", "passed": False, "score": 0.1},  # in the queue as a failed case
            {"trajectory_id": "good", "passed": True, "score": 0.6},
            {"trajectory_id": None, "passed": None, "score": None},
        ],
    )
    scores = [("low", 0.2), ("failed", None), ("good", 0.9), ("findings", 0.4)]
    process = stored(tmp_path, PROCESS_SCORES, ({"trajectory_id": name, "score": score} for name, score in scores))
    low = with_low_scores(cases, process, 0.6)
    assert low == {"low": "case score 0.55, process score 0.20", "findings": "process score 0.40"}
    trajectories = stored(tmp_path, PREPROCESSED_TRAJECTORIES, ({"trajectory_id": name, "task": ""} for name in low))
    judged = ({"trajectory_id": name, "criterion": "overall", "adjusted_mean": 0.9, "std": None} for name in low)
    queue = queue_rows("d", trajectories, judged, ReviewSettings(), {"low": low}, frozenset())
    rows = {row["trajectory_id"]: row for row in queue}
    assert {row["reason"] for row in rows.values()} == {"low"}
    assert {name: row["detail"] for name, row in rows.items()} == low


def test_a_fifth_of_the_others_is_drawn_the_same_every_time() -> None:
    def draw() -> list[Reason | None]:
        names = (f"t{number}" for number in range(5000))
        return [reason_by_judges(name, 0.9, None, ReviewSettings(), is_undecided=False) for name in names]

    drawn = draw()
    assert set(drawn) == {"random", None}
    assert drawn.count("random") / 5000 == pytest.approx(0.2, abs=0.02)
    assert drawn == draw()


def queued(**fields: Any) -> dict[str, Any]:
    return {"drop": "d", "trajectory_id": "t", "score": 0.5, "task": "q", "final_answer": "a"} | fields


def test_a_queue_comes_back_as_labels_once_it_is_filled_in(tmp_path: Path) -> None:
    rows = [queued(trajectory_id=name, task='say "hi",\nplease') for name in ("one", "two", "three")]
    sheet = list(csv.DictReader(io.StringIO(b"".join(as_csv(rows, ReportAddress())).decode(), newline="")))
    sheet[0] |= {"label": "pass", "annotator": "ada"}
    sheet[1] |= {"label": "0.25"}
    with (tmp_path / "done.csv").open("w", newline="") as sink:
        writer = csv.DictWriter(sink, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    found = list(read_labels(UPath(tmp_path)))
    assert [(each.trajectory_id, each.label, each.annotator) for each in found if isinstance(each, Label)] == [
        ("one", 1.0, "ada"),
        ("two", 0.25, "unknown"),
    ]
    assert len(found) == 2
    assert [orjson.loads(line)["label"] for line in as_json_lines(rows, ReportAddress())] == [None] * 3


def test_rows_of_the_queue_link_to_their_transcripts() -> None:
    rows = [queued(trajectory_id="a/b c")]
    sheet = next(csv.DictReader(io.StringIO(b"".join(as_csv(rows, ReportAddress())).decode(), newline="")))
    assert sheet["link"] == "report.html#/run/a%2Fb%20c"
    served = ReportAddress.of("http://127.0.0.1:3001", "team/week 1")
    (line,) = map(orjson.loads, as_json_lines(rows, served))
    assert line["link"] == "http://127.0.0.1:3001/team/week%201/report.html#/run/a%2Fb%20c"


def test_a_spreadsheet_runs_no_formula_of_a_trajectory() -> None:
    sheet = b"".join(
        as_csv([queued(task='=HYPERLINK("http://x","y")', final_answer="@SUM(1)")], ReportAddress())
    ).decode()
    row = next(csv.DictReader(io.StringIO(sheet)))
    assert (row["task"][:2], row["final_answer"][:2]) == ("'=", "'@")


def test_a_sheet_holds_nothing_that_steers_a_terminal_or_turns_the_text() -> None:
    hostile = "a\x1b[2J\u202eb\u2028\x00\r"
    sheet = b"".join(as_csv([queued(task=hostile, trajectory_id=hostile)], ReportAddress())).decode()
    assert not set(sheet.replace("\r\n", "")) & set("\x1b\u202e\u2028\x00\r")


@given(
    st.lists(
        st.sampled_from([*"=+-@\t'a1\"\n,\\u\r\x00\x1b\u202e\u2028", "\\u202e", "\\u005c"]), min_size=1, max_size=8
    )
    .map("".join)
    .filter(lambda name: name == name.strip())
)
def test_an_id_starts_no_formula_and_its_label_comes_back(name: str) -> None:
    sheet = list(
        csv.DictReader(
            io.StringIO(b"".join(as_csv([queued(drop=name, trajectory_id=name)], ReportAddress())).decode(), newline="")
        )
    )
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in sheet[0].values())
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, list(sheet[0]))
    writer.writeheader()
    writer.writerow(sheet[0] | {"label": "pass"})
    folder = UPath("memory://labels-of-ids")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.csv").write_text(sink.getvalue(), "utf-8", newline="")
    (label,) = read_labels(folder)
    assert isinstance(label, Label)
    assert (label.drop, label.trajectory_id) == (name, name)


def test_lines_that_are_no_labels_say_why_and_leave_the_others_alone(tmp_path: Path) -> None:
    good = {"drop": "d", "trajectory_id": "t", "label": "fail"}
    bad = [b"{", b"[]", b'{"drop": "d"}', orjson.dumps({**good, "label": "maybe"}), orjson.dumps({**good, "label": 7})]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*bad, orjson.dumps(good)]))
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "notes.txt").write_text("not read")
    found = list(read_labels(UPath(tmp_path)))
    assert [each.line for each in found if isinstance(each, UnreadableLabel)] == [1, 2, 3, 4, 5, 0]
    assert [each.label for each in found if isinstance(each, Label)] == [0.0]
    assert list(read_labels(UPath(tmp_path) / "nowhere")) == []


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_is_read_as_spreadsheets_save_it(tmp_path: Path, delimiter: str) -> None:
    sheet = 'drop,trajectory_id,label,comment\nd,t,pass,"two\nlines"\nd,u,fail,\n'
    (tmp_path / "A.CSV").write_bytes(sheet.replace(",", delimiter).replace("\n", "\r\n").encode("utf-8-sig"))
    (tmp_path / "b.xlsx").write_bytes(b"PK")
    *labels, workbook = read_labels(UPath(tmp_path))
    assert [(each.line, each.label) for each in labels if isinstance(each, Label)] == [(3, 1.0), (4, 0.0)]
    assert workbook == UnreadableLabel("b.xlsx", 0, "a workbook is not read; save it as CSV UTF-8")


def test_a_quotation_mark_that_is_not_closed_takes_no_label_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('drop,trajectory_id,label,comment\nd,t,pass,\nd,u,pass,"never\nd,v,fail,\n')
    label, unreadable = read_labels(UPath(tmp_path))
    assert isinstance(label, Label) and label.trajectory_id == "t"
    assert isinstance(unreadable, UnreadableLabel) and unreadable.line == 3 and "quotation marks" in unreadable.reason


def test_a_number_of_a_clip_that_no_table_holds_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"drop,trajectory_id,label,clip_index\nd,t,pass,{'9' * 30}")
    (unreadable,) = read_labels(UPath(tmp_path))
    assert isinstance(unreadable, UnreadableLabel) and "is not the number of a clip" in unreadable.reason


@given(st.text(max_size=200))
def test_no_file_of_labels_stops_the_others(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("labels")
    (folder / "a.csv").write_text(f"drop,trajectory_id,label\n{text}", "utf-8", "surrogateescape", "")
    (folder / "b.jsonl").write_text(text, "utf-8", "surrogateescape", "")
    for each in read_labels(UPath(folder)):
        assert isinstance(each, UnreadableLabel) or 0 <= each.label <= 1


def card(truth: list[bool], judged: list[bool], **settings: Any) -> JudgeCard:
    labels = {str(index): float(value) for index, value in enumerate(truth)}
    scores = {str(index): [float(value)] for index, value in enumerate(judged)}
    return judge_card("j", "passed", labels, scores, ReviewSettings(pass_score=0.5, **settings))


def test_a_card_by_hand() -> None:
    found = card([True] * 6 + [False] * 4, [True] * 5 + [False] + [True] * 2 + [False] * 2)
    assert (found.agreed, found.n_labels) == (7, 10)
    assert (found.sensitivity, found.specificity) == (pytest.approx(5 / 6), pytest.approx(0.5))
    assert found.bias == pytest.approx(0.1)
    assert found.may_gate is None


def test_kappa_of_labels_that_all_agree_is_no_point() -> None:
    found = card([index % 2 == 0 for index in range(30)], [index % 2 == 0 for index in range(30)])
    low, high = found.kappa_interval
    assert found.kappa == 1.0 and low is not None and high is not None
    assert low < 0.95 < high
    assert found.alpha_interval == (None, None), "nothing varies"


def test_runs_of_one_task_do_not_count_as_many_labels() -> None:
    truth, judged = [index % 3 > 0 for index in range(12)] * 5, [index % 3 > 0 or index == 0 for index in range(12)] * 5
    labels = {str(index): float(value) for index, value in enumerate(truth)}
    scores = {str(index): [float(value)] for index, value in enumerate(judged)}
    alone = judge_card("j", "passed", labels, scores, SETTINGS).kappa_interval
    tasks = {str(index): index % 12 for index in range(60)}
    together = judge_card("j", "passed", labels, scores, SETTINGS, tasks=tasks).kappa_interval
    widths = [high - low for low, high in (alone, together) if low is not None and high is not None]
    assert widths[1] > 1.5 * widths[0]


def test_sensitivity_and_specificity_are_over_tasks_too() -> None:
    truth = {str(index): float(index % 2) for index in range(60)}
    scores = {str(index): [float(index % 12 > 2)] for index in range(60)}
    alone = judge_card("j", "passed", truth, scores, SETTINGS)
    tasks = {str(index): index % 12 for index in range(60)}
    together = judge_card("j", "passed", truth, scores, SETTINGS, tasks=tasks)
    assert alone.sensitivity_interval == pytest.approx(wilson(25, 30))
    assert together.sensitivity == alone.sensitivity
    assert together.sensitivity_interval == pytest.approx(wilson(5, 6))
    assert together.specificity_interval == pytest.approx(wilson(2, 6))


def test_missing_scores_lower_coverage_and_repeats_show_their_spread() -> None:
    labels = {"a": 1.0, "b": 0.0, "c": 1.0}
    found = judge_card("j", "passed", labels, {"a": [0.9, 0.7], "b": [0.2]}, SETTINGS, costs=[0.01, 0.03])
    assert found.coverage == pytest.approx(2 / 3)
    assert found.retest_std == pytest.approx(0.02**0.5)
    assert found.cost_usd == pytest.approx(0.02)
    empty = judge_card("j", "passed", {}, {}, SETTINGS)
    assert (empty.kappa, empty.bias, empty.coverage, empty.cost_usd) == (None, None, None, None)


def test_a_judge_below_the_wanted_kappa_is_kept_out_with_the_reason() -> None:
    truth = [index % 2 == 0 for index in range(40)]
    poor = card(truth, [index % 4 < 2 for index in range(40)])
    good = card(truth, truth)
    assert (poor.may_gate, good.may_gate) == (False, True)
    rows = [
        {
            "judge": name,
            "criterion": "passed",
            "kappa": each.kappa,
            "n_labels": each.n_labels,
            "may_gate": each.may_gate,
        }
        for name, each in (("poor", poor), ("good", good))
    ]
    assert kept_out(rows, SETTINGS) == {"poor": "kappa 0.00 on 40 labels is below 0.60"}


def test_a_corrected_pass_rate_is_right_where_the_judge_is_lenient_and_its_interval_covers() -> None:
    covered, raws, corrected = 0, [], []
    for seed in range(300):
        random = np.random.default_rng(seed)
        truth = random.random(600) < 0.5
        judged = np.where(truth, random.random(600) < 0.95, random.random(600) < 0.5).astype(float)
        chosen = ~judged.astype(bool)
        strata = []
        for members in (np.flatnonzero(chosen), np.flatnonzero(~chosen)):
            sample = random.permutation(members)[:40]
            pairs = [(float(truth[index]), float(judged[index])) for index in sample]
            strata.append(Stratum(judged[members].tolist(), pairs))
        found = pass_rate(strata)
        assert found.raw is not None and found.low is not None and found.high is not None
        raws.append(found.raw)
        corrected.append(found.corrected)
        covered += found.low <= truth.mean() <= found.high
    assert np.mean(raws) == pytest.approx(0.725, abs=0.01)
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.01)
    # 0.95 less three Monte-Carlo standard errors of 300 runs
    assert covered / 300 >= 0.95 - 3 * (0.95 * 0.05 / 300) ** 0.5


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("accuracy", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("labels", [5, 10, 30])
def test_a_corrected_pass_rate_covers_with_few_labels_too(rate: float, accuracy: float, labels: int) -> None:
    random = np.random.default_rng(5)
    covered, runs = 0, 200
    for _ in range(runs):
        truth = random.random(500) < rate
        judged = np.where(random.random(500) < accuracy, truth, ~truth).astype(float)
        sample = random.permutation(500)[:labels]
        found = pass_rate([Stratum(judged.tolist(), [(float(truth[index]), float(judged[index])) for index in sample])])
        assert found.low is not None and found.high is not None
        covered += found.low <= truth.mean() <= found.high
    # three Monte-Carlo standard errors
    assert covered / runs >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5


def test_five_passing_labels_do_not_claim_certainty() -> None:
    found = pass_rate([Stratum([1.0] * 100, [(1.0, 1.0)] * 5)])
    assert found.corrected == 1.0 and found.high == 1.0
    assert found.low is not None and found.low < 0.7


def test_too_few_labels_correct_nothing() -> None:
    found = pass_rate([Stratum([1.0, 0.0, 1.0], [(1.0, 1.0)])])
    assert (found.raw, found.corrected, found.n_labels) == (pytest.approx(2 / 3), None, 1)
    assert pass_rate([]).raw is None


def test_the_recorded_agent_as_a_judge_agrees_on_317_of_366_requirements() -> None:
    folder = data("agent-as-a-judge/judgment/GPT-Pilot")
    people: dict[str, float] = {}
    judged: dict[str, list[float]] = {}
    for path in sorted((folder / "human_as_a_judge").iterdir()):
        for requirement in json.loads(path.read_text())["requirements"]:
            people[f"{path.name}#{requirement['requirement_id']}"] = float(requirement["satisfied"])
        for requirement in json.loads((folder / "agent_as_a_judge/gray_box" / path.name).read_text())["requirements"]:
            judged[f"{path.name}#{requirement['requirement_id']}"] = [float(requirement["satisfied"])]
    found = judge_card("agent_as_a_judge", "satisfied", people, judged, SETTINGS)
    assert (found.agreed, found.n_labels) == (317, 366)
    assert found.sensitivity == pytest.approx(142 / 163)
    assert found.specificity == pytest.approx(175 / 203)
    assert found.kappa == pytest.approx(0.7301, abs=1e-4)
    assert found.may_gate is True


def test_the_kappas_of_three_recorded_judges_of_steps() -> None:
    labels: dict[str, dict[tuple[str, str], int]] = {}
    for path in sorted(data("agent-process-bench/llm_annotations").iterdir()):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            own = labels.setdefault(record["annotator"].split("-")[0], {})
            own |= {(record["record_id"], step): label for step, label in record["step_labels"].items()}

    def kappa(one: str, other: str) -> float | None:
        steps = sorted(labels[one].keys() & labels[other].keys())
        assert len(steps) == 387
        return cohen_kappa([labels[one][step] for step in steps], [labels[other][step] for step in steps])

    found = {pair: kappa(*pair) for pair in combinations(sorted(labels), 2)}
    assert found == {
        ("claude", "deepseek"): pytest.approx(0.2250, abs=5e-5),
        ("claude", "gpt"): pytest.approx(0.5930, abs=5e-5),
        ("deepseek", "gpt"): pytest.approx(0.2837, abs=5e-5),
    }


def test_the_kappa_of_a_recorded_judge_of_retail_conversations() -> None:
    name = "retail-multi-judge-full.json.summary_policy_conversation_v1.json"
    entries = json.loads(data(f"tau2-bench/judge/{name}").read_text())["entries"]
    outcomes = {entry["simulation_id"]: float(entry["tau2_success"]) for entry in entries}
    verdicts = {entry["simulation_id"]: [float(entry["judge_verdict"] == "pass")] for entry in entries}
    costs = [entry["judge_cost_usd"] for entry in entries]
    found = judge_card("policy_conversation", "passed", outcomes, verdicts, SETTINGS, costs)
    assert found.kappa == pytest.approx(0.2254, abs=5e-5)
    assert (found.agreed, found.n_labels, found.may_gate) == (70, 114, False)
    assert found.cost_usd == pytest.approx(1.7023684999999995 / 114)


def test_of_several_labels_of_one_person_the_last_counts(tmp_path: Path) -> None:
    """A person who decides otherwise is not half of each, and one who is in two files does not count twice."""
    rows = ["drop,trajectory_id,label,annotator"]
    rows += ["d,1,pass,ada", "d,1,fail,ada", "d,1,pass,bo", "d,1,pass,", "d,1,fail,", "d,2,pass,ada"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    (tmp_path / "b.csv").write_text("drop,trajectory_id,label,annotator\nd,2,1,ada\n")
    found = list(read_labels(UPath(tmp_path)))
    labels = [each for each in found if isinstance(each, Label)]
    assert [(label.trajectory_id, label.annotator, label.label) for label in labels] == [
        ("1", "ada", 0.0),
        ("1", "bo", 1.0),
        ("1", "unknown", 1.0),
        ("1", "unknown", 0.0),
        ("2", "ada", 1.0),
    ]
    (other,) = [each for each in found if isinstance(each, UnreadableLabel)]
    assert (other.source, other.line) == ("a.csv", 2)
    assert other.reason == "ada labels it otherwise in a.csv:3, which counts"


def test_what_people_contradict_each_other_in_is_no_label_and_named(tmp_path: Path) -> None:
    rows = ["drop,trajectory_id,label,annotator"]
    rows += ["d,1,pass,ada", "d,1,fail,bo", "d,2,pass,ada", "d,2,pass,bo", "d,2,fail,cy", "d,3,0.5,ada"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    found = list(read_labels(UPath(tmp_path)))
    told = readable(found, {("d", run) for run in "123"})
    assert (told.passed, told.metadata["contradicted"]) == (False, 1)
    assert told.description == (
        "1 of the labels do not count, since people contradict each other: a.csv:2: passed of run 1 of d."
    )
    assert mean_label([1.0, 0.0]) is None
    assert (mean_label([1.0, 1.0, 0.0]), mean_label([0.5]), mean_label([0.5, 0.5])) == (2 / 3, 0.5, 0.5)


def test_tables_with_tabs_are_read_and_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("drop\ttrajectory_id\tlabel\nd\t1\tpass\n")
    (tmp_path / "b.json").write_text('[{"drop": "d", "trajectory_id": "1", "label": true}]')
    label, unread = read_labels(UPath(tmp_path))
    assert isinstance(label, Label) and label.label == 1.0
    assert isinstance(unread, UnreadableLabel) and "save it as JSON Lines" in unread.reason
