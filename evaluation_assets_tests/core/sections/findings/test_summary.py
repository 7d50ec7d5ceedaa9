"""Findings of a drop by kind, as reports show them."""

import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import FINDINGS, RAW_TRAJECTORIES
from evaluation_assets.core.scoring.intervals import rate_interval, wilson
from evaluation_assets.core.sections.findings.summary import (
    Alike,
    EarlierFindings,
    FindingsSummary,
    earlier_findings,
    findings_summary,
    in_points,
)

RUNS = {"a": "one", "b": "one", "c": "two", "d": "three", "e": "four"}


def row(run: str, kind: str, severity: str, clip: int | None = None, evidence: str = "words") -> dict[str, Any]:
    found = dict.fromkeys(FINDINGS.schema.names)
    own = {"trajectory_id": run, "kind": kind, "severity": severity, "clip_index": clip, "evidence": evidence}
    return found | own | {"detector": "answers", "start": None if clip is None else 3}


def stored(*rows: dict[str, Any], detectors: str = "1", name: str = "now") -> Stored:
    """A table of the rows in the order of their runs."""
    rows = tuple(sorted(rows, key=lambda row: row["trajectory_id"]))
    path = UPath(f"memory://findings-{name}/{abs(hash(str(rows)))}{detectors}.parquet")
    table = pa.Table.from_pylist(list(rows), schema=FINDINGS.schema).replace_schema_metadata({"detectors": detectors})
    with path.open("wb") as sink:
        pq.write_table(table, sink)
    return Stored(FINDINGS, path)


def summary(*rows: dict[str, Any], failed: str = "", **others: Any) -> FindingsSummary:
    found = findings_summary(stored(*rows), RUNS, others.pop("removed", ()), set(failed), rate_interval, **others)
    assert found is not None
    return found


def test_the_gravest_kind_comes_first_then_the_most_frequent_one() -> None:
    rows = [row(run, "repeated_call", "LOW") for run in RUNS]
    rows += [row(run, "loop", "MEDIUM") for run in "ab"]
    rows += [row("a", "unsupported_argument", "MEDIUM"), row("a", "unsupported_argument", "LOW")]
    rows += [row("c", "unsupported_argument", "LOW"), row("c", "unsupported_argument", "HIGH")]
    found = summary(*rows)
    assert [(kind.kind, kind.severity, kind.runs) for kind in found.kinds] == [
        ("unsupported_argument", "HIGH", 2),
        ("loop", "MEDIUM", 2),
        ("repeated_call", "LOW", 5),
    ]
    assert found.kinds[0].severities == {"HIGH": 1, "MEDIUM": 1, "LOW": 0}
    assert found.kinds[0].title == "Unsupported argument" and "no message" in found.kinds[0].meaning


def test_an_example_is_like_others_of_its_kind_not_like_what_it_follows_from() -> None:
    rows = [row("a", "unresolved_error", "LOW", 1), row("b", "unsupported_answer", "MEDIUM", 2)]
    found = summary(*rows, alike=[Alike("1f", 32, "unresolved_error")] * 2)
    assert [(kind.kind, kind.examples[0].others) for kind in found.kinds] == [
        ("unsupported_answer", 0),
        ("unresolved_error", 32),
    ]


def test_a_kind_counts_once_in_a_run_and_runs_of_a_task_hang_together() -> None:
    found = summary(*[row(run, "loop", "MEDIUM") for run in "aab"])
    (kind,) = found.kinds
    assert (kind.runs, kind.share) == (2, 0.4)
    assert (kind.ci_low, kind.ci_high) == pytest.approx(rate_interval([[True, True], [False], [False], [False]]))
    assert kind.ci_high > wilson(2, 5)[1]
    assert (found.affected, found.of_runs) == (2, "5 runs of 4 tasks")


def test_examples_are_the_gravest_first_those_of_failed_runs_one_of_each_run() -> None:
    rows = [row(run, "loop", "MEDIUM", 1, f"{run} {number}") for run in "abcde" for number in range(2)]
    found = summary(*rows, row("e", "loop", "HIGH", None, "gravest"), failed="d")
    told = [(each.trajectory_id, each.evidence, each.is_quotation) for each in found.kinds[0].examples]
    assert told == [("e", "gravest", False), ("d", "d 0", True), ("a", "a 0", True)]
    (hidden,) = summary(row("a", "loop", "LOW"), removed="a").kinds[0].examples
    assert not hidden.is_shown


def test_an_example_names_its_tool_unless_the_evidence_does() -> None:
    rows = [row("a", "ignored_result", "LOW", evidence='{"city": "Lyon"}'), row("b", "ignored_result", "LOW")]
    rows += [row("c", "ignored_result", "LOW", evidence="weather gave nothing")]
    found = summary(*(each | {"tool": None if each["trajectory_id"] == "b" else "weather"} for each in rows))
    assert {each.trajectory_id: each.tool for each in found.kinds[0].examples} == {"a": "weather", "b": None, "c": None}
    cut = summary(*(each | {"kind": "cut_off", "tool": "weather"} for each in rows))
    assert [each.tool for each in cut.kinds[0].examples] == ["weather"] * 3


def test_runs_to_look_at_have_the_most_grave_kinds() -> None:
    rows = [row("a", "loop", "MEDIUM"), row("b", "cut_off", "HIGH"), row("b", "loop", "MEDIUM", 7)]
    rows += [row("c", "repeated_call", "LOW"), row("d", "loop", "MEDIUM", 2)]
    found = summary(*rows, failed="d")
    assert [(each.trajectory_id, each.clip_index, each.titles) for each in found.to_look_at] == [
        ("b", 7, ["Cut off", "Loop"]),
        ("d", 2, ["Loop"]),
        ("a", None, ["Loop"]),
    ]


def test_what_was_found_in_failed_runs() -> None:
    rows = [row("a", "cut_off", "HIGH"), row("b", "cut_off", "HIGH"), row("b", "loop", "MEDIUM")]
    found = summary(*rows, row("c", "repeated_call", "LOW"), row("d", "refusal", "HIGH"), failed="abc")
    assert (found.failed, found.reasons) == (3, "Cut off in 2, Loop in 1, nothing HIGH or MEDIUM in 1")


def test_the_order_of_kinds_does_not_depend_on_that_of_the_runs() -> None:
    order = ["loop", "cut_off", "missing_answer", "ignored_error", "unknown_tool"]
    rows = [row(run, kind, "HIGH") for run, kind in zip(RUNS, order, strict=True)]
    found = summary(*rows, failed="edcba")
    assert list(found.of_failed) == [kind.kind for kind in found.kinds] == sorted(order)


def test_findings_in_one_line_are_the_most_frequent_grave_kinds() -> None:
    rows = [row(run, "repeated_call", "LOW") for run in RUNS] + [row(run, "loop", "MEDIUM") for run in "ab"]
    found = summary(*rows, row("a", "cut_off", "HIGH"))
    assert found.text == "in 5 of 5 runs of 4 tasks: Loop (2 runs), Cut off (1 run); LOW: Repeated call (5 runs)"
    assert summary().text == "none in 5 runs of 4 tasks"
    assert summary(row("a", "repeated_call", "LOW")).text.endswith(": Repeated call (1 run)")
    doubted = [row(run, "user_correction", "LOW") for run in "abc"] + [row("d", "user_correction", "MEDIUM")]
    looped = [row(run, "loop", "MEDIUM") for run in "ab"]
    assert summary(*doubted, *looped).text.endswith(
        "Loop (2 runs), User correction (1 run); LOW: User correction (3 runs)"
    )
    assert summary(*doubted, *looped).kinds[1].by_severity == "MEDIUM 1, LOW 3"
    other = summary(row("a", "loop", "MEDIUM"), failed="b")
    assert other.text == "in 1 of 5 runs of 4 tasks, HIGH or MEDIUM ones in 0 of 1 failed run: Loop (1 run)"
    expected = row("b", "missing_call", "HIGH") | {"detector": "recorded_expectations"}
    told = summary(row("a", "loop", "MEDIUM"), expected, failed="b").text
    assert told == "in 2 of 5 runs of 4 tasks: Missing call (1 run), Loop (1 run)"


def test_kinds_that_clearly_more_runs_have_than_before_are_named() -> None:
    rows = [row(run, "cut_off", "HIGH") for run in RUNS] + [row("a", "loop", "HIGH"), row("a", "refusal", "LOW")]
    before = EarlierFindings(drop="v1", detectors="1", n_runs=40, runs={"cut_off": 4})
    found = summary(*rows, earlier=before)
    assert found.more == {"Cut off": pytest.approx(0.9)}, "one loop of five runs may be chance"
    assert found.text.endswith("; LOW: Refusal (1 run); more than in v1: Cut off (+90.0 points)")
    few = EarlierFindings(drop="v1", detectors="1", n_runs=4, runs={"cut_off": 3})
    assert summary(*rows, earlier=few).more == {}


def test_the_drop_before_is_compared_only_if_the_same_detectors_searched_it() -> None:
    raw = Stored(RAW_TRAJECTORIES, UPath("memory://findings-raw/raw.parquet"))
    with raw.path.open("wb") as sink:
        rows = [dict.fromkeys(RAW_TRAJECTORIES.schema.names) for _ in range(4)]
        pq.write_table(pa.Table.from_pylist(rows, schema=RAW_TRAJECTORIES.schema), sink)
    before = [row("x", "loop", "MEDIUM"), row("x", "loop", "MEDIUM"), row("x", "refusal", "LOW")]
    earlier = earlier_findings("d", stored(*before, name="before"), raw)
    assert earlier == EarlierFindings(drop="d", detectors="1", n_runs=4, runs={"loop": 1, "refusal": 1})
    found = summary(row("a", "loop", "MEDIUM"), row("a", "cut_off", "HIGH"), earlier=earlier)
    assert {kind.kind: kind.earlier_share for kind in found.kinds} == {"cut_off": 0.0, "loop": 0.25}
    assert found.gone == {"refusal": 0.25}
    others = earlier_findings("d", stored(*before, detectors="2", name="before"), raw)
    found = summary(row("a", "loop", "MEDIUM"), earlier=others)
    assert (found.is_comparable, found.kinds[0].earlier_share, found.gone) == (False, None, {})
    assert (in_points(0.05), in_points(-0.001), in_points(0)) == ("+5.0 points", "-0.1 points", "unchanged")


def test_a_drop_without_the_table_has_no_section_and_an_unknown_kind_keeps_its_name() -> None:
    nothing = Stored(FINDINGS, UPath("memory://findings-none/none.parquet"))
    assert findings_summary(nothing, RUNS, (), (), rate_interval) is None
    (kind,) = summary(row("a", "of_old", "LOW")).kinds
    assert (kind.title, kind.meaning) == ("of_old", "")


def test_a_long_message_is_cut_in_its_middle_and_a_quotation_is_not() -> None:
    message = "call 3, book with {" + '"id": 1, ' * 40 + "}, was not made"
    found = summary(row("a", "missing_call", "HIGH", evidence=message), row("a", "loop", "HIGH", 1, evidence="x" * 300))
    by_kind = {kind.kind: kind.examples[0].evidence for kind in found.kinds}
    assert len(by_kind["missing_call"]) == 200 and len(by_kind["loop"]) == 300
    assert re.fullmatch(r"call 3, book with \{.*….*, was not made", by_kind["missing_call"])
