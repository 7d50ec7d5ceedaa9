"""What `import` shows, and how a format is forced."""

import json
import re
import shutil
from pathlib import Path

from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.cli.main import main
from evaluation_assets.core.pipeline.reading import unmapped_table
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.plain_text import for_terminal
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES


def shown(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["import", *map(str, arguments)])


def test_import_shows_trajectories_rejections_and_unmapped_fields(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi", "flavour": "sweet"}, {"role": "assistant", "content": "Hello"}]
    lines = [json.dumps({"task_id": "greet", "messages": messages}), '{"messages": []}', "{broken"]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    result = shown(tmp_path / "d.jsonl")
    assert result.exit_code == 0
    assert "format             openai_messages" in result.stdout
    assert "runs               1 (1 turn)" in result.stdout
    assert "reading            partial: 2 records rejected" in result.stdout
    assert "calls              0" in result.stdout
    assert "  tokens             unknown\n" in result.stdout
    assert "greet: 1 turn, 0 calls, 1 agent, tokens unknown, outcome unknown" in result.stdout
    assert "rejected           2" in result.stdout
    assert "record 3: bad_json" in result.stdout
    assert "1  messages[].flavour" in result.stdout


def test_sums_of_some_runs_say_of_how_many(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "Hello", "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
    answers = [answer, {**answer, "usage": None}]
    lines = [
        json.dumps({"messages": [{"role": "user", "content": "Hi"}, each], "id": n}) for n, each in enumerate(answers)
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    assert "  tokens             10 in, 2 out (1 of 2 runs), cost unknown\n" in shown(tmp_path / "d.jsonl").stdout


HOSTILE = (
    "\x1b[2J\x1b]0;x\x07\u202egnp\u2066\x9b31m\r\n::error::hacked\n  ::stop-commands::x\n##[error]y\n##vso[task.x]z"
)


def steers(text: str) -> bool:
    """Whether a text has what a terminal or a CI system obeys."""
    return (
        any(not character.isprintable() and character != "\n" for character in text)
        or re.search(r"(?m)^\s*::|##\[|##vso\[", text) is not None
    )


def test_names_out_of_files_steer_neither_a_terminal_nor_a_ci_system(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi", HOSTILE: "sweet"}, {"role": "assistant", "content": "Hello"}]
    lines = [json.dumps({"task_id": HOSTILE, "messages": messages}), '{"messages": "' + "\u202e" + '"}']
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    (tmp_path / "bad.jsonl").write_text("no json at all\n")
    (tmp_path / "bad.drop.yaml").write_text('format: "\\e[2J\\n::error::x"\n')
    result = shown(tmp_path)
    assert result.exit_code == 1
    assert "error" in result.stdout and "stop-commands" in result.stdout
    assert "error" in result.stderr
    assert not steers(result.stdout) and not steers(result.stderr)


@given(st.text("a: \n\t#[vso\x1b\u202e\x85\u2028", max_size=40))
def test_any_text_is_harmless_on_a_terminal(text: str) -> None:
    assert not steers(for_terminal(text).replace("\t", " "))
    assert for_terminal(for_terminal(text)) == for_terminal(text)


def test_a_field_named_like_an_image_is_no_image_on_dagster_s_page() -> None:
    unmapped = UnmappedFields()
    for path in ("![x](http://evil.example/a.png)", "<img src=x>", "a|b", "`c`", "[x](http://evil.example)"):
        unmapped.count(path)
    shown_table = unmapped_table(unmapped)
    assert not re.search(r"(?<!\\)!?(?<!\\)\[|<img|(?<!\\)`|https?:", shown_table)
    assert all(line.count("|") - line.count("\\|") == 3 for line in shown_table.splitlines())


def test_a_directory_of_many_formats_is_shown_drop_by_drop(tmp_path: Path) -> None:
    for name in ("tau_bench", "tagged"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    (tmp_path / "strange.json").write_text('{"nothing": 1}')
    result = shown(tmp_path)
    assert result.exit_code == 1
    assert "format             tau_bench" in result.stdout and "format             tagged" in result.stdout
    assert "strange.json is in no supported format" in result.stderr


def test_an_input_that_nothing_reads_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "strange.json").write_text('{"nothing": 1}')
    assert shown(tmp_path).exit_code == 2
    done = command("evaluate", tmp_path, home=tmp_path / "home")
    assert done.returncode == 2 and "warning" not in done.stdout, "the message says it"


def test_a_file_of_which_no_record_can_be_read_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"raw_response": "<answer>4</answer>"}\n')
    result = shown(tmp_path / "d.jsonl", "--format", "openai_messages")
    assert result.exit_code == 2 and "rejected           1" in result.stdout


def test_files_of_a_folder_that_are_not_read_are_counted(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "tagged", tmp_path / "tagged")
    for name in ("README.md", "notes.md", "plot.png", "run.jsonl.part", "LICENSE", ".hidden.json", "tagged/.git/HEAD"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tagged.drop.yaml").touch()
    result = shown(tmp_path)
    assert result.exit_code == 0
    said = "7 files of unsupported types or hidden (2 .md, 2 hidden, 1 .part, 1 .png, 1 without extension)"
    assert [line for line in result.stderr.splitlines() if "skipped" in line] == [f"evaluation-assets: skipped: {said}"]
    assert "skipped" not in shown(next((tmp_path / "tagged").glob("*.json*"))).stderr


def test_a_forced_format_goes_before_what_a_file_looks_like(tmp_path: Path) -> None:
    """And is kept, unless nothing can be read in it: then the drop stays as it was."""
    messages = [{"role": "user", "content": "Two and two?"}, {"role": "assistant", "content": "4"}]
    record = {"raw_response": "<answer>4</answer>", "task_id": "t", "messages": messages}
    file, home = tmp_path / "d.jsonl", tmp_path / "home"
    file.write_text(json.dumps(record) + "\n")
    sidecar = Path(Installation.at(str(home)).drops.path) / "d.drop.yaml"
    assert command("evaluate", file, "--format", "openai_messages", home=home).returncode == 0
    assert sidecar.read_text() == "format: openai_messages\n"
    for named in (file, "d"):
        refused = command("evaluate", named, "--format", "swe_agent", home=home)
        assert refused.returncode == 2
        assert "nothing can be read as swe_agent (d.jsonl, record 1: " in refused.stderr
    assert sidecar.read_text() == "format: openai_messages\n"
    assert "unchanged since its last evaluation" in command("evaluate", file, home=home).stdout


def test_a_preview_of_costs_counts_what_a_forced_format_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({"raw_response": "<answer>4</answer>", "task_id": "t"}) + "\n")
    done = command("plan", tmp_path / "d.jsonl", "--format", "openai_messages", home=tmp_path / "home")
    assert "unreadable         1" in done.stdout


def test_a_format_that_a_sidecar_demands_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({"raw_response": "<answer>4</answer>", "task_id": "t"}) + "\n")
    (tmp_path / "d.drop.yaml").write_text("format: openai_messages\n")
    said = shown(tmp_path / "d.jsonl").stdout
    assert "the line `format: openai_messages` of the drop's sidecar (NAME.drop.yaml, or" in said
