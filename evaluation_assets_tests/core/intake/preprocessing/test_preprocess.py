"""Rules, repair, accounting and splitting."""

import re
from collections import Counter
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal
from evaluation_assets.core.intake.preprocessing.repair import repaired
from evaluation_assets.core.intake.preprocessing.rules import Repetition, Settings, repetition
from evaluation_assets.core.intake.preprocessing.split import numbered_files, remove_earlier
from evaluation_assets.core.report.results import preprocessed_record
from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.making import answer, call, record, result, tagged_texts, trajectory

FAILED = result("Error: connection refused")


def calls(count: int) -> str:
    """A text of different calls, each answered."""
    return "".join(call(f"print({number})") + result(str(number)) for number in range(count))


# Frequency


@pytest.mark.parametrize(
    ("count", "beta", "removed"), [(15, 15, False), (16, 15, True), (1, 0, True), (0, 0, False), (3, 2, True)]
)
def test_more_than_beta_calls_are_too_many(count: int, beta: int, removed: bool) -> None:
    preprocessor = Preprocessor(Settings(beta_threshold=beta, on_violation="remove"))
    outcome = preprocessor.process(trajectory(calls(count) + answer("a")))
    assert isinstance(outcome, Removal) == removed
    if isinstance(outcome, Removal):
        assert outcome.reason == "frequency"
        assert str(count) in outcome.detail and str(beta) in outcome.detail


def test_fifteen_calls_are_the_default_limit() -> None:
    assert Settings().beta_threshold == 15
    assert Settings().on_violation == "flag"


def test_markers_and_quoted_calls_do_not_count() -> None:
    quoted = call("x") * 20
    text = f"<think>{quoted}</think>{call('1')}<execute_tools />{result(quoted)}<answer>{quoted}</answer>"
    assert isinstance(
        Preprocessor(Settings(beta_threshold=1, on_violation="remove")).process(trajectory(text)), Trajectory
    )


# Duplicates and retries


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"q": "x", "n": 1}', '{"q": "x", "n": 1}'),
        ('{"q": "x", "n": 1}', '{"n": 1, "q": "x"}'),
        ('{"q": "x", "n": 1}', '{\n  "q":"x",\n\t"n":1}'),
        ('{"a": {"b": 1, "c": [1, 2]}}', '{"a":{"c":[1,2],"b":1}}'),
        ("python  sort\nlist", " python sort list "),
        ("", "  "),
    ],
)
def test_equal_calls_in_a_row_are_duplicates(one: str, other: str) -> None:
    run = trajectory(call(one) + result("1") + call(other) + result("1"))
    assert repetition(run) == Repetition(duplicates=1, retries=0)


@pytest.mark.parametrize(
    "other",
    [
        call('{"q": "y"}', "research", "deepsearch"),
        call('{"q": "x"}', "quick_research", "deepsearch"),
        call('{"q": "x"}', "research", "browser_use"),
        call('{"q": ["x"]}', "research", "deepsearch"),
        call('{"q": "x", "n": null}', "research", "deepsearch"),
        call('{"q": "X"}', "research", "deepsearch"),
    ],
)
def test_calls_that_differ_are_no_duplicates(other: str) -> None:
    run = trajectory(call('{"q": "x"}', "research", "deepsearch") + result("1") + other + result("1"))
    assert repetition(run) == Repetition(0, 0)


def test_white_space_inside_a_json_text_value_matters() -> None:
    run = trajectory(call('{"q": "a b"}') + result("1") + call('{"q": "a  b"}') + result("1"))
    assert repetition(run) == Repetition(0, 0)


def test_only_neighbours_are_duplicates() -> None:
    run = trajectory(call("1") + result("a") + call("2") + result("b") + call("1") + result("a"))
    assert repetition(run) == Repetition(0, 0)


def test_a_repeat_after_a_failure_is_a_retry() -> None:
    run = trajectory(call("1") + FAILED + call("1") + FAILED + call("1") + result("a") + call("1") + result("a"))
    assert repetition(run) == Repetition(duplicates=1, retries=2)


def test_retries_never_remove_a_record() -> None:
    preprocessor = Preprocessor(Settings(on_violation="remove"))
    assert isinstance(preprocessor.process(trajectory(call("1") + FAILED + call("1") + result("a"))), Trajectory)
    assert preprocessor.statistics.retries == 1
    assert preprocessor.statistics.kept == 1


def test_duplicates_flag_a_record_by_default_and_remove_it_by_choice() -> None:
    duplicate = trajectory(call("1") + result("a") + call("1") + result("a"))
    outcome = Preprocessor(Settings()).process(duplicate)
    assert isinstance(outcome, Trajectory) and "duplicate_calls" in outcome.flags
    outcome = Preprocessor(Settings(on_violation="remove")).process(duplicate)
    assert isinstance(outcome, Removal)
    assert outcome.reason == "duplicates"


def test_json_calls_compare_by_name_and_arguments() -> None:
    one = '<tool_call>{"name": "f", "arguments": {"a": 1, "b": 2}}</tool_call>'
    same = '<tool_call>{"arguments": {"b": 2, "a": 1}, "name": "f"}</tool_call>'
    other = '<tool_call>{"name": "g", "arguments": {"a": 1, "b": 2}}</tool_call>'
    assert repetition(trajectory(one + result("1") + same + result("1"))) == Repetition(1, 0)
    assert repetition(trajectory(one + result("1") + other + result("1"))) == Repetition(0, 0)


def test_json_calls_with_arguments_that_are_no_object_still_differ() -> None:
    one = '<tool_call>{"name": "f", "arguments": ["a"]}</tool_call>'
    other = '<tool_call>{"name": "f", "arguments": ["b"]}</tool_call>'
    assert repetition(trajectory(one + result("1") + other + result("1"))) == Repetition(0, 0)
    assert repetition(trajectory(one + result("1") + one + result("1"))) == Repetition(1, 0)


# Flagging instead of removing


def test_flag_mode_keeps_and_marks() -> None:
    preprocessor = Preprocessor(Settings(beta_threshold=2, on_violation="flag"))
    many = preprocessor.process(trajectory(calls(3) + answer("a")))
    twice = preprocessor.process(trajectory(call("1") + result("a") + call("1") + result("a") + answer("a")))
    fine = preprocessor.process(trajectory(calls(1) + answer("a")))
    assert isinstance(many, Trajectory) and many.flags == ("too_many_calls",)
    assert isinstance(twice, Trajectory) and twice.flags == ("duplicate_calls",)
    assert isinstance(fine, Trajectory) and fine.flags == ()
    counts = preprocessor.statistics
    assert (counts.kept, counts.total, counts.removed.total()) == (3, 3, 0)
    assert counts.flagged == Counter(frequency=1, duplicates=1)


# Repair


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<think>plan\n" + call("1") + result("a"), "<think>plan</think>\n" + call("1") + result("a")),
        (call("1") + result("a") + "<answer>It is 5\n", call("1") + result("a") + "<answer>It is 5</answer>\n"),
        (
            "<answer>5\n\n<result>No executable action</result>\n",
            "<answer>5</answer>\n\n<result>No executable action</result>\n",
        ),
        ("<answer>a\n<answer>b</answer>", "<answer>a</answer>\n<answer>b</answer>"),
        (call("1") + "<result>half\n<think>b</think>", call("1") + "<result>half</result>\n<think>b</think>"),
        ("<microsandbox><a>1</a>\n" + result("a"), "<microsandbox><a>1</a></microsandbox>\n" + result("a")),
        ("<microsandbox><a>1</microsandbox>" + result("a"), "<microsandbox><a>1</a></microsandbox>" + result("a")),
        ("<microsandbox><a>1\n" + result("a"), "<microsandbox><a>1</a></microsandbox>\n" + result("a")),
    ],
)
def test_a_missing_closing_tag_is_written_where_its_block_ends(text: str, wanted: str) -> None:
    assert repaired(trajectory(text)).text == wanted


@pytest.mark.parametrize(
    "text",
    [
        call("1") + "<result>cut...</result></result>" + answer("a"),
        "words </think> words" + answer("a"),
        "<deepsearch><research>{}</reserch></deepsearch>" + result("a"),
        "<think>x</think>" + call("print('<think>')") + result("<answer>") + answer("a"),
    ],
)
def test_texts_without_missing_closing_tags_are_not_touched(text: str) -> None:
    run = trajectory(text)
    assert repaired(run) is run


def test_the_log_of_repairs_speaks_of_the_text_as_it_came() -> None:
    text = "<think>plan " + call("1") + result("a") + "<answer>5"
    run = repaired(trajectory(text))
    assert [(r.tag, r.action, r.offset) for r in run.repairs] == [
        ("think", "closed", len("<think>plan")),
        ("answer", "closed", len(text)),
    ]


def pieces(run: Trajectory) -> list[tuple[str, str, str, str]]:
    """What the steps of a run say, as texts."""
    return [
        (
            run.piece(step.thought),
            run.piece(step.message),
            run.piece(step.call.raw if step.call else None),
            run.piece(step.result.content if step.result else None),
        )
        for step in run.steps
    ]


def without_inserted(before: Trajectory, after: Trajectory) -> str:
    """The repaired text with every inserted closing tag cut out again, by the offsets of the log."""
    text, removed = after.text, 0
    for repair in before.repairs:
        if repair.action == "closed":
            tag = f"</{repair.tag}>"
            assert text.startswith(tag, repair.offset)
            text = text[: repair.offset] + text[repair.offset + len(tag) :]
            removed += 1
    assert removed == 0 or before.text != after.text
    return text


broken_texts = st.builds(
    lambda pieces: "".join(pieces),
    st.lists(
        st.sampled_from(
            [
                "<think>plan</think>",
                "<think>plan\n",
                call("1"),
                call('{"q": 2}', "research", "deepsearch"),
                "<microsandbox><a>1</microsandbox>",
                "<microsandbox><a>1\n",
                "<deepsearch>words\n",
                "<execute_tools />\n",
                result("a"),
                result("quoted <think> and </answer>"),
                "<result>half\n",
                "<result>cut...</result></result>",
                "</think>",
                "words",
                "<answer>5\n",
                answer("5"),
            ]
        ),
        max_size=12,
    ),
)


@given(broken_texts.filter(str.strip))
def test_repair_only_inserts(text: str) -> None:
    before = trajectory(text)
    assert without_inserted(before, repaired(before)) == text


@given(tagged_texts.filter(str.strip))
def test_repair_only_inserts_in_any_tags(text: str) -> None:
    before = trajectory(text)
    assert without_inserted(before, repaired(before)) == text


@given(st.one_of(broken_texts, tagged_texts).filter(str.strip))
def test_steps_of_a_repaired_text_say_what_they_said(text: str) -> None:
    before = trajectory(text)
    after = repaired(before)
    inserted = {f"</{repair.tag}>" for repair in before.repairs if repair.action == "closed"}
    for was, now in zip(pieces(before), pieces(after), strict=True):
        assert now[2] == was[2]
        for old, new in ((was[0], now[0]), (was[1], now[1]), (was[3], now[3])):
            shorter = new
            for tag in inserted:
                shorter = shorter.replace(tag, "")
            for tag in inserted:
                old = old.replace(tag, "")
            assert shorter == old


@given(broken_texts.filter(str.strip))
def test_calls_and_results_of_a_repaired_text_are_the_same_strings(text: str) -> None:
    before, after = trajectory(text), repaired(trajectory(text))
    several = re.compile(r"</?result>")
    for was, now in zip(pieces(before), pieces(after), strict=True):
        assert now[2] == was[2]
        assert several.sub("", now[3] or "") == several.sub("", was[3] or "")


@given(st.one_of(broken_texts, tagged_texts).filter(str.strip))
def test_clips_of_a_repaired_text_tile_it(text: str) -> None:
    run = repaired(trajectory(text))
    assert "".join(clip.content for clip in clips_of(run)) == run.text


@given(broken_texts.filter(str.strip))
def test_a_repaired_text_needs_no_closing_tag(text: str) -> None:
    again = trajectory_of(record(raw_response=repaired(trajectory(text)).text))
    assert [repair for repair in again.repairs if repair.action == "closed"] == []


@given(tagged_texts.filter(str.strip))
def test_a_repaired_text_of_any_tags_needs_no_closing_tag(text: str) -> None:
    again = trajectory_of(record(raw_response=repaired(trajectory(text)).text))
    assert [repair for repair in again.repairs if repair.action == "closed"] == []


@given(broken_texts.filter(str.strip))
def test_a_repaired_text_has_the_same_calls(text: str) -> None:
    run = repaired(trajectory(text))
    again = trajectory_of(record(raw_response=run.text))
    assert [run.piece(s.call.raw) for s in run.calls if s.call] == [
        again.piece(s.call.raw) for s in again.calls if s.call
    ]


# Every record is accounted for

lines = st.lists(
    st.one_of(
        st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")),
        st.one_of(broken_texts, tagged_texts).map(lambda text: orjson.dumps({"raw_response": text})),
        st.integers(0, 4).map(lambda n: orjson.dumps({"raw_response": calls(n) + answer("a")})),
        st.sampled_from([call("1") + result("a")]).map(lambda text: orjson.dumps({"raw_response": text * 2})),
        st.just(b'{"no": "text"}'),
    ),
    max_size=12,
)


@given(lines, st.sampled_from([Settings(beta_threshold=2, on_violation=way) for way in ("remove", "flag")]))
def test_every_record_is_kept_removed_or_rejected_once(raw: list[bytes], settings: Settings) -> None:
    path = UPath("memory://preprocessing/drop.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n" + b"\n".join(raw))
    preprocessor = Preprocessor(settings)
    counts = preprocessor.statistics
    kept: list[Trajectory] = []
    removed: list[Removal] = []
    rejected: list[Rejection] = []
    for item in read_trajectories([DropFile(path, "drop.jsonl")], UnmappedFields(), "tagged"):
        if isinstance(item, Rejection):
            counts.unreadable[item.reason] += 1
            rejected.append(item)
        elif isinstance(outcome := preprocessor.process(item), Removal):
            removed.append(outcome)
        else:
            kept.append(outcome)
    records = 1 + sum(bool(line.strip(b" \t\r\x0b\x0c")) for line in raw)
    assert len(kept) + len(removed) + len(rejected) == counts.total == records
    assert (counts.kept, counts.removed.total(), counts.unreadable.total()) == (len(kept), len(removed), len(rejected))
    assert len({item.line for item in rejected}) == len(rejected)
    assert len({run.id for run in kept} | {item.trajectory.id for item in removed}) == len(kept) + len(removed)
    changed = sum("closed" in {repair.action for repair in run.repairs} for run in kept)
    assert counts.repaired == changed
    assert counts.repairs.total() == sum(len(run.repairs) for run in kept)
    assert counts.kept_rate == len(kept) / records
    if settings.on_violation == "flag":
        assert removed == []


def test_an_empty_drop_has_no_rate() -> None:
    assert Preprocessor(Settings()).statistics.kept_rate is None
    assert Preprocessor(Settings()).statistics.total == 0


# Split


def split(total: int, size: int) -> dict[str, list[int]]:
    return {name: list(items) for name, items in numbered_files(range(total), "drop", size, total)}


def test_files_are_numbered_from_one_and_the_last_is_shorter() -> None:
    assert split(5, 2) == {"drop01.jsonl": [0, 1], "drop02.jsonl": [2, 3], "drop03.jsonl": [4]}


@pytest.mark.parametrize(("total", "name"), [(99, "drop99.jsonl"), (100, "drop100.jsonl"), (1000, "drop1000.jsonl")])
def test_digits_grow_with_the_number_of_files(total: int, name: str) -> None:
    names = list(split(total, 1))
    assert names[-1] == name
    assert len({len(each) for each in names}) == 1
    assert sorted(names) == names


def test_nothing_gives_no_file() -> None:
    assert split(0, 3) == {}


@pytest.mark.parametrize("size", [0, -1])
def test_a_file_without_records_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        split(1, size)


@given(st.integers(0, 300), st.integers(1, 40))
def test_no_record_is_lost_in_splitting(total: int, size: int) -> None:
    files = list(split(total, size).values())
    assert [item for items in files for item in items] == list(range(total))
    assert all(len(items) == size for items in files[:-1])
    assert not files or 1 <= len(files[-1]) <= size


def test_a_record_whose_text_stays_is_not_repaired() -> None:
    run = trajectory("I think.</think><answer>a</answer>")
    preprocessor = Preprocessor(Settings())
    assert preprocessor.process(run) is run
    assert (preprocessor.statistics.repaired, preprocessor.statistics.repairs) == (0, {"think kept_as_text": 1})
    assert preprocessed_record(run)["preprocessing_metadata"]["format_corrected"] is False
    open_run = trajectory("<think>I think.<answer>a</answer>")
    preprocessor.process(open_run)
    assert preprocessor.statistics.repaired == 1
    assert preprocessed_record(open_run)["preprocessing_metadata"]["format_corrected"] is True


@pytest.mark.parametrize("stem", ["drop", "drop1", "2024", "x" * 300])
def test_only_numbered_files_of_the_stem_are_removed(tmp_path: Path, stem: str) -> None:
    folder = UPath(tmp_path)
    numbered = [name for name, _ in numbered_files(range(3), stem, 1, 3)]
    others = ["drops01.jsonl", "dropx01.jsonl", f"{stem[:100]}_preprocessed.jsonl", "drop1.jsonl", "01.jsonl"]
    for name in (*numbered, *others):
        (folder / name).touch()
    remove_earlier(folder, stem, numbered[:1])
    assert {path.name for path in folder.iterdir()} == {numbered[0], *others}
