"""Finding runs of all drops by words and by likeness, offline."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from evaluation_assets.core.report.search.run_conditions import Condition, Query, query_of
from evaluation_assets.core.report.search.run_search import excerpt, runs_with
from evaluation_assets.core.report.viewer.page import DATA_FOLDER
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.folded import folded, place_in
from evaluation_assets_tests.conftest import call, command, record
from evaluation_assets_tests.towns import run_of

HOSTILE = "x\x1b[31m\u202e::error::<script>alert(1)</script>"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two drops: a good run, runs that fail alike, and a run with hostile texts."""
    folder = tmp_path_factory.mktemp("search")
    drops = folder / "in"
    drops.mkdir()
    (drops / "one.jsonl").write_bytes(run_of(1, good=True) + run_of(2, good=False))
    hostile = record(HOSTILE, call("Straße", f"no ZEBRA {HOSTILE}\ncafe\u0301 ＦＵＬＬ here") + "<answer>no</answer>")
    (drops / "two.jsonl").write_bytes(run_of(3, good=False) + hostile + run_of(4, good=True))
    done = command("evaluate", drops, "--quiet", home=folder / "home")
    assert done.returncode == 0, done.stderr
    return folder / "home"


def found(home: Path, *arguments: str) -> list[dict[str, Any]]:
    done = command("search", *arguments, "--format", "json", home=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_runs_have_all_words_in_any_case_with_their_place(home: Path) -> None:
    runs = found(home, "TIMEOUT", "error:")
    assert {(run["drop"], run["trajectory_id"]) for run in runs} == {("one", "task-2"), ("two", "task-3")}
    assert [run["drop"] for run in runs] == ["two", "one"], "the drop evaluated last comes first"
    assert all(run["clip_index"] == 0 and "<result>Error: timeout</result>" in run["excerpt"] for run in runs)
    assert runs[0]["open"] == (home / "reports" / "two" / "report.html").as_uri() + "#/run/task-3?clip=0"


def test_the_place_of_a_run_is_where_most_words_are(home: Path) -> None:
    (run,) = found(home, "many", "y2", "timeout")
    assert (run["trajectory_id"], run["clip_index"]) == ("task-2", 0), "the first word is in the task alone"
    assert "y2" in run["excerpt"] and "timeout" in run["excerpt"]


def test_a_found_run_says_its_outcome(home: Path, tmp_path: Path) -> None:
    done = command("search", "town", "--drop", "one", home=home)
    assert {line for line in done.stdout.splitlines() if line.startswith("one  ")} == {
        "one  task-1, clip 0  pass",
        "one  task-2  fail",
    }
    assert {run["trajectory_id"]: run["outcome"] for run in found(home, "--like", "task-3")}["task-2"] == "fail"
    assert [run["outcome"] for run in found(home, "zebra")] == [None]
    (tmp_path / "one.jsonl").write_bytes(run_of(1, good=True))
    (tmp_path / "s.json").write_text('{"cases": [{"id": "task-1", "message": "m", "should_not_call_tools": true}]}')
    suite = ["--suite", tmp_path / "s.json", "--quiet"]
    assert command("evaluate", tmp_path / "one.jsonl", *suite, home=tmp_path / "home").returncode == 1
    (run,) = found(tmp_path / "home", "town")
    assert run["outcome"] == "fail", "the test case says more than what was recorded"


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("outcome:fail", {"task-2", "task-3"}),
        ("outcome:unknown tool:BROWSER_search", {HOSTILE}),
        ("finding:ignored_error", {"task-2", "task-3"}),
        ("town -finding:ignored_error -outcome:unknown", {"task-1", "task-4"}),
        ("outcome:pass zebra", set()),
    ],
)
def test_conditions_of_the_page_of_runs_work_on_the_terminal(home: Path, query: str, runs: set[str]) -> None:
    assert {run["trajectory_id"] for run in found(home, query)} == runs


def test_a_run_with_the_kind_that_is_asked_for_shows_that_finding(home: Path) -> None:
    alike = found(home, "--like", "task-3", "finding:ignored_error")
    (run,) = found(home, "finding:ignored_error", "--drop", "one")
    assert [each["trajectory_id"] for each in alike] == ["task-2"] == [run["trajectory_id"]]
    assert "timeout" in run["excerpt"] and run["clip_index"] == 1


def test_other_conditions_are_said_to_work_on_the_page(home: Path) -> None:
    done = command("search", "score<0.5", home=home)
    assert "no run has all of these words; score<0.5 was searched as text" in done.stdout
    assert command("search", "nowhere", home=home).stdout == "no run has all of these words\n"


@pytest.mark.parametrize("word", ["caf\u00e9", "CAFE\u0301", "full", "strasse", "STRASSE", "ｚｅｂｒａ"])
def test_words_are_found_however_their_characters_are_written(home: Path, word: str) -> None:
    (run,) = found(home, word)
    assert run["trajectory_id"] == HOSTILE and run["clip_index"] == 0


def test_the_excerpt_is_of_the_place_that_was_found(home: Path) -> None:
    assert place_in("ﬁ cafe\u0301 x", folded("ﬁ cafe\u0301 x").index("x")) == 8
    (run,) = found(home, "here")
    assert "ZEBRA" in run["excerpt"] and "here" in run["excerpt"]


def test_words_that_are_not_utf_8_are_searched(home: Path) -> None:
    assert found(home, "\udcff\udcfe") == []


def test_a_phrase_its_drop_and_what_is_in_no_clip(home: Path) -> None:
    assert [run["trajectory_id"] for run in found(home, '"error: timeout"', "--drop", "one")] == ["task-2"]
    assert found(home, "timeout error:", "people")[0]["clip_index"] == 0
    assert found(home, '"timeout error:"') == []
    (task,) = found(home, '"how many people live in town 4"')
    assert (task["trajectory_id"], task["clip_index"]) == ("task-4", None)


def test_what_every_run_was_told_is_not_searched(tmp_path: Path) -> None:
    told = {"role": "system", "content": "Follow the giraffe policy."}
    answer = {"role": "assistant", "content": "Leaves."}
    messages = [[told, {"role": "user", "content": text}, answer] for text in ("Hello", "What does a giraffe eat?")]
    runs = [json.dumps({"task_id": f"t{number}", "messages": each}) for number, each in enumerate(messages)]
    (tmp_path / "d.jsonl").write_text("\n".join(runs))
    assert command("evaluate", tmp_path / "d.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    assert [run["trajectory_id"] for run in found(tmp_path / "home", "giraffe")] == ["t1"]
    assert found(tmp_path / "home", "policy") == []


def test_no_more_runs_are_read_than_asked_for(home: Path) -> None:
    done = command("search", "town", "--limit", "2", home=home)
    assert done.stdout.count("report.html#/run/") == 2 and "there are more: search with --limit 4" in done.stdout
    read: list[str] = []
    place = Installation.at(str(home))
    assert len(list(runs_with(place, Query(("town",)), ["one", "two"], read.append, 1))) == 1


def test_runs_that_failed_alike_come_first(home: Path) -> None:
    first, *others = found(home, "--like", "one/task-2")
    assert (first["drop"], first["trajectory_id"]) == ("two", "task-3")
    assert first["likeness"] == pytest.approx(1), "they differ in numbers only"
    assert "timeout" in first["shared"] and not {"the", "town"} & {*first["shared"]}, "all runs have these"
    assert all(run["likeness"] < first["likeness"] for run in others)
    assert ("one", "task-2") not in {(run["drop"], run["trajectory_id"]) for run in [first, *others]}
    assert {run["trajectory_id"] for run in found(home, "inhabitants", "--like", "task-2")} == {"task-1", "task-4"}


@pytest.mark.parametrize(
    ("tasks", "shared"),
    [
        (["我想取消明天去上海的航班", "请帮我取消后天去上海的航班吧", "天气怎么样", "推荐一本小说"], "上海"),
        (["ยกเลิกเที่ยวบินพรุ่งนี้", "ขอยกเลิกเที่ยวบินด้วย", "อากาศดี", "แนะนำหนังสือ"], "บิ"),
        (["पैसे वापस चाहिए", "कल तक पैसे वापस", "मौसम कैसा है", "किताब बताओ"], "पैसे"),
        (["إلغاء الرِّحلة غدا", "أريد إلغاء الرِّحلة", "كيف الطقس", "كتاب جيد"], "الرِّحلة"),
    ],
)
def test_runs_are_alike_in_any_script(tmp_path: Path, tasks: list[str], shared: str) -> None:
    told = (record(f"t{number}", "<answer>ok</answer>", task_description=task) for number, task in enumerate(tasks))
    (tmp_path / "d.jsonl").write_bytes(b"".join(told))
    assert command("evaluate", tmp_path / "d.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    first, second, *_ = found(tmp_path / "home", "--like", "t0")
    assert first["trajectory_id"] == "t1" and shared in first["shared"]
    assert first["likeness"] > 2 * second["likeness"]


def test_a_shared_word_of_any_length_is_named_by_its_beginning(tmp_path: Path) -> None:
    encoded = "QUJD" * 2_000
    told = [record(f"e{n}", "<answer>no</answer>", task_description=f"Decode {encoded}") for n in range(2)]
    (tmp_path / "d.jsonl").write_bytes(b"".join(told) + b"".join(run_of(n, good=True) for n in range(9)))
    assert command("evaluate", tmp_path / "d.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    first = found(tmp_path / "home", "--like", "e0")[0]
    assert [word for word in first["shared"] if word.startswith("qujd")] == [f"{'qujd' * 9}quj…"]


def test_hostile_texts_do_not_steer_the_terminal(home: Path) -> None:
    (run,) = found(home, "zebra")
    assert run["trajectory_id"] == HOSTILE and unquote(run["open"]).endswith(f"#/run/{HOSTILE}?clip=0")
    done = command("search", "zebra", home=home)
    assert all(character.isprintable() or character == "\n" for character in done.stdout)
    assert done.stdout.count("\n") == 3 and "<script>alert(1)</script>\n" not in done.stdout.splitlines()[2]
    assert [run["trajectory_id"] for run in found(home, "straße")] == [HOSTILE]


def test_a_report_with_data_beside_it_is_opened_by_the_command(home: Path) -> None:
    beside = home / "reports" / "one" / DATA_FOLDER
    beside.mkdir(exist_ok=True)
    (beside / "block").write_text("")
    (run,) = found(home, "timeout", "--drop", "one")
    (beside / "block").unlink()
    assert run["open"] == f"evaluation-assets open one task-2 --home {home}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to search for"),
        (("x", "--drop", "tow"), "no evaluated drop 'tow'; did you mean 'two'?"),
        (("finding:lop",), "finding:lop is not a condition; did you mean 'loop'?"),
        (("outcome:good",), "choose one of: pass, fail, unknown"),
        (("--like", "task-22"), "no evaluated run 'task-22'; did you mean 'task-2'?"),
    ],
)
def test_what_cannot_be_searched_is_told(home: Path, arguments: tuple[str, ...], said: str) -> None:
    done = command("search", *arguments, home=home)
    assert done.returncode == 2 and said in done.stderr


def test_an_empty_home_and_a_damaged_drop(home: Path, tmp_path: Path) -> None:
    done = command("search", "x", home=tmp_path)
    assert done.returncode == 2 and "no drop has been evaluated" in done.stderr
    table = home / "lake" / "preprocessed_trajectories" / "one.parquet"
    kept = table.read_bytes()
    table.write_bytes(kept[:-20])
    done = command("search", "timeout", home=home)
    table.write_bytes(kept)
    assert done.returncode == 0 and "task-3" in done.stdout and "one.parquet is damaged" in done.stderr


def test_terms_and_conditions_of_a_query() -> None:
    assert query_of('"no such file" Retry  x') == Query(("no such file", "retry", "x"))
    conditions = Condition("finding", "loop"), Condition("tool", "a b", is_negated=True)
    assert query_of('finding:loop -tool:"A b" "tool:x y" score<1') == Query(("tool:x y", "score<1"), conditions)


def test_an_excerpt_has_one_ellipsis_where_its_text_was_cut_before() -> None:
    assert excerpt(f"{'x' * 119}… and the end", 0) == f"{'x' * 119}…"
    assert excerpt(f"{'.' * 40}…{'x' * 119}", 101) == f"…{'x' * 119}"
