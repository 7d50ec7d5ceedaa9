"""What `import` shows, and how a format is forced."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evaluation_assets.cli.main import main
from evaluation_assets.core.home import Home
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.formats.reading import FIXTURES


def shown(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["import", *map(str, arguments)])


def test_import_shows_trajectories_rejections_and_losses(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi", "flavour": "sweet"}, {"role": "assistant", "content": "Hello"}]
    lines = [json.dumps({"task_id": "greet", "messages": messages}), '{"messages": []}', "{broken"]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    result = shown(tmp_path / "d.jsonl")
    assert result.exit_code == 0
    assert "format             openai_messages" in result.stdout
    assert "trajectories       1 (1 turns, 0 calls)" in result.stdout
    assert "greet: 1 turns, 0 calls, 1 agents, tokens unknown, outcome unknown" in result.stdout
    assert "rejected           2" in result.stdout
    assert "record 3: bad_json" in result.stdout
    assert "1  messages[].flavour" in result.stdout


def test_a_directory_of_many_formats_is_shown_drop_by_drop(tmp_path: Path) -> None:
    for name in ("tau_bench", "tagged"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    (tmp_path / "strange.json").write_text('{"nothing": 1}')
    result = shown(tmp_path)
    assert result.exit_code == 0
    assert "format             tau_bench" in result.stdout and "format             tagged" in result.stdout
    assert "strange.json is in no supported format" in result.stderr


def test_an_input_that_nothing_reads_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "strange.json").write_text('{"nothing": 1}')
    assert shown(tmp_path).exit_code == 2


@pytest.mark.parametrize("name", ["plan", "evaluate"])
def test_a_forced_format_goes_before_what_a_file_looks_like(tmp_path: Path, name: str) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({"raw_response": "<answer>4</answer>", "task_id": "t"}) + "\n")
    done = command(name, tmp_path / "d.jsonl", "--format", "openai_messages", home=tmp_path / "home")
    assert "unreadable         1" in done.stdout
    if name == "evaluate":
        drops = Path(Home.at(str(tmp_path / "home")).drops.path)
        assert (drops / "d.drop.yaml").read_text() == "format: openai_messages\n"
