"""`explain`: figures, verdicts and sources of a drop on the terminal and as JSON."""

import hashlib
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import dagster as dg
import orjson
import pytest
from click.testing import CliRunner, Result

from evaluation_assets import UnknownName, load_home
from evaluation_assets.cli.main import main
from evaluation_assets_tests.conftest import KEY, call, record
from evaluation_assets_tests.model_judging import Judged, installed, judge
from evaluation_assets_tests.model_server import model_server
from evaluation_assets_tests.towns import run_of

HOSTILE = "lamps\x1b[31m"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    with (
        pytest.MonkeyPatch.context() as patch,
        model_server() as server,
        dg.DagsterInstance.ephemeral() as instance,
    ):
        patch.setenv("TEST_KEY", KEY)
        home = tmp_path_factory.mktemp("home")
        workspace = installed(home, instance, judge(server, "model"))
        panel = {"judges": [{key: value for key, value in judge(server, "model").items() if key != "timeouts"}]}
        (home / "panel.yaml").write_bytes(orjson.dumps(panel))
        lines = [record("red", call("q", "found lamps") + "<answer>4</answer>"), record(HOSTILE)]
        workspace.drop("week", b"".join(lines))
        workspace.run("week")
        yield workspace


def explained(judged: Judged, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments, "--home", str(judged.home.root)])


def test_a_drop_shows_its_figures_with_their_formulas(judged: Judged) -> None:
    done = explained(judged, "week")
    assert done.exit_code == 0, done.output
    report = orjson.loads((judged.home.reports("week") / "report.json").read_bytes())
    mean = f"{report['overall']['mean']:.6g}"
    assert f"drop/overall/mean = {mean}\n" in done.output
    assert "mean of the overall scores of trajectories" in done.output
    assert "\nfrom clip_verdicts/<judge>\n  drop/overall/mean" in done.output and "drop/overall/std" not in done.output
    assert f"repeat: evaluation-assets evaluate week --home {judged.home.root}\n" in done.output


def test_what_the_report_opens_with_is_first(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(run_of(1, good=False))
    at_home = ["--home", str(tmp_path / "home")]
    CliRunner().invoke(main, ["evaluate", str(tmp_path / "d.jsonl"), "--quiet", *at_home])
    assert (
        CliRunner()
        .invoke(main, ["explain", "d", *at_home])
        .output.startswith(
            "from outcomes recorded in the drop's files\n  drop/headline/rates/success/count = 0\n    number of "
        )
    )


def test_tables_are_named_once_for_the_figures_that_come_from_them(judged: Judged) -> None:
    for figures in ("week",), ("week", "red"), ("week", "--full"):
        lines = explained(judged, *figures).output.splitlines()
        sources = [line for line in lines if line.startswith("from ")]
        assert len(sources) > 1 and not any(one == other for one, other in pairwise(sources))


def test_figures_of_parts_of_a_drop_are_printed_when_all_are_asked_for(judged: Judged) -> None:
    main_ones, all_of_them = explained(judged, "week").output, explained(judged, "week", "--full").output
    assert "drop/tools/" in all_of_them and "/tenths/" in all_of_them and "more figures" not in all_of_them
    assert "drop/tools/" not in main_ones and "/tenths/" not in main_ones
    left = re.search(r"([\d,]+) more figures, of tools, criteria and other sections: --full prints them", main_ones)
    assert left is not None
    assert int(left[1].replace(",", "")) == all_of_them.count("\n  drop/") - main_ones.count("\n  drop/")


def test_a_trajectory_shows_its_bytes(judged: Judged) -> None:
    document = orjson.loads(explained(judged, "week", "red", "--format", "json").output)
    content = (Path(judged.home.drops.path) / "week.jsonl").read_bytes()
    source = document["source"]
    found = content[source["start"] : source["end"]]
    assert orjson.loads(found)["task_id"] == "red"
    assert source["sha256"] == hashlib.sha256(found).hexdigest()
    assert source["file_sha256"] == hashlib.sha256(content).hexdigest()
    assert source["is_unchanged"] and source["file"] == "week.jsonl"
    assert {figure["address"] for figure in document["figures"]} >= {"trajectory/red/overall"}


def test_a_run_opens_with_what_went_wrong_in_it(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(run_of(1, good=False) + run_of(2, good=True))
    at_home = ["--home", str(tmp_path / "home")]
    CliRunner().invoke(main, ["evaluate", str(tmp_path / "d.jsonl"), "--beta-threshold", "9", "--quiet", *at_home])
    told, full, fine = (
        CliRunner().invoke(main, ["explain", "d", *arguments, *at_home]).output
        for arguments in (["task-1"], ["task-1", "--full"], ["task-2"])
    )
    assert told.startswith(
        "run task-1: outcome fail, 2 findings\n"
        "  HIGH    missing_answer: the whole run, by flags\n          no_answer\n"
        "  MEDIUM  ignored_error: clip 1, browser_search_google, by errors\n          “Error: timeout”\n"
        "from clip_verdicts/"
    )
    assert "source: d.jsonl, record 1\nrepeat: evaluation-assets evaluate d --beta-threshold 9 --home" in told
    assert "sha256" not in told and "sha256" in full and "bytes      0 to " in full
    assert fine.startswith("run task-2: outcome pass, nothing was found\nfrom ")


def test_a_criterion_shows_the_verdicts_with_their_replies(judged: Judged) -> None:
    rows = [row for row in judged.rows("week", "clip_verdicts", "model") if row["trajectory_id"] == "red"]
    document = orjson.loads(explained(judged, "week", "red", "overall", "--format", "json").output)
    assert [each["ledger_key"] for each in document["verdicts"]] == [row["ledger_key"] for row in rows]
    for verdict, row in zip(document["verdicts"], rows, strict=True):
        assert verdict["outcome"] == row["outcome"] and verdict["scores"] == dict(row["scores"])
        assert row["summary"] in verdict["reply"]
    text = explained(judged, "week", "red", "overall").output
    assert re.search(r"clip_verdicts/model, clip 0, sample 0: \w+\n  clip       characters 0 to \d+ of the text", text)
    assert f"  ledger     {rows[0]['ledger_key']}" in text


@pytest.mark.parametrize("table", ["clip_verdicts", "category_verdicts", "trajectory_verdicts"])
def test_a_verdict_shows_the_prompt_that_was_sent(judged: Judged, table: str) -> None:
    asked = [row for row in judged.rows("week", table, "model") if row["trajectory_id"] == "red" and row["scores"]]
    prefix = "answer." if asked[-1].get("subject") == "answer" else ""
    criterion = prefix + dict(asked[-1]["scores"]).popitem()[0]
    document = orjson.loads(explained(judged, "week", "red", criterion, "--format", "json").output)
    prompts = [each["prompt"] for each in document["verdicts"] if each["table"] == f"{table}/model"]
    assert prompts
    for prompt in prompts:
        assert prompt.startswith("[system]\n") and "[user]\n" in prompt
        assert table != "clip_verdicts" or "found lamps" in prompt


def test_a_prompt_of_other_settings_is_not_made_up(judged: Judged) -> None:
    file = Path(judged.home.root.path) / "panel.yaml"
    before = file.read_bytes()
    panel = orjson.loads(before)
    panel["judges"][0]["model"] = "another"
    try:
        file.write_bytes(orjson.dumps(panel))
        done = explained(judged, "week", "red", "overall")
    finally:
        file.write_bytes(before)
    assert "prompt     not known: panel, rubrics or prompts are others than when it was sent" in done.output


def test_long_replies_are_shortened_and_keys_masked(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    row = judged.rows("week", "clip_verdicts", "model")[0]
    word = row["reasoning"].split()[0]
    monkeypatch.setenv("TEST_KEY", row["summary"])  # a reply that holds the key of its judge
    short, full = (explained(judged, "week", "red", "overall", *more).output for more in ([], ["--full"]))
    assert row["summary"] not in full and "[masked]" in full and word in full
    assert len(short) <= len(full)


def test_names_from_files_do_not_control_the_terminal(judged: Judged) -> None:
    done = explained(judged, "week", HOSTILE, "overall")
    assert done.exit_code == 0 and "\x1b" not in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["weak"], "'weak' has no report in .*; did you mean 'week'?"),
        (["other-thing"], "evaluate it first: evaluation-assets evaluate FILE"),
        (["week", "rod"], "'week' has no run 'rod'; did you mean 'red'?"),
        (
            ["week", "zzz"],
            "'week' has no run 'zzz'; it has 2: .*red.*. Those that failed: .*search outcome:fail --drop week",
        ),
        (["week", "red", "overal"], "no verdict on 'red' is about 'overal'; did you mean 'overall'?"),
        (["week", "red", "zzz"], "choose one of: overall, "),
    ],
)
def test_what_is_not_there_is_refused_with_what_to_do(judged: Judged, arguments: list[str], message: str) -> None:
    done = explained(judged, *arguments)
    assert done.exit_code == 2
    assert re.search(message.replace("?", r"\?"), done.output.replace("\n", " "))


def test_a_report_of_another_version_is_to_be_made_again(judged: Judged) -> None:
    path = Path(judged.home.reports("week").path) / "report.json"
    before = path.read_bytes()
    report = orjson.loads(before)
    try:
        path.write_bytes(orjson.dumps({name: value for name, value in report.items() if name != "sampled"}))
        filled_in = explained(judged, "week")
        path.write_bytes(orjson.dumps({name: value for name, value in report.items() if name != "clips_asked"}))
        refused = explained(judged, "week")
        with pytest.raises(UnknownName, match="of another version, or damaged; evaluate the drop again"):
            _ = load_home(judged.home.root.path).result("week").summary
    finally:
        path.write_bytes(before)
    assert filled_in.exit_code == 0 and filled_in.output.startswith("from ")
    assert refused.exit_code == 2 and "of another version, or damaged" in refused.output


def test_the_scores_are_those_of_the_table(judged: Judged) -> None:
    document = orjson.loads(explained(judged, "week", "red", "--format", "json").output)
    rows = [row for row in judged.rows("week", "trajectory_scores") if row["trajectory_id"] == "red"]
    stated = {figure["address"].rpartition("/")[2]: figure["value"] for figure in document["figures"]}
    assert stated == {row["criterion"]: row["mean"] for row in rows} and stated["overall"] is not None


def test_a_changed_drop_is_named(judged: Judged) -> None:
    path = Path(judged.home.drops.path) / "week.jsonl"
    before = path.read_bytes()
    try:
        path.write_bytes(before + record("third"))
        done = explained(judged, "week", "red")
    finally:
        path.write_bytes(before)
    assert "CHANGED since it was read" in done.output
