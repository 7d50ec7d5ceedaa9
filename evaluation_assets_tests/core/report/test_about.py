"""What the top of a report says a drop is of."""

from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.pipeline.test_reading import good, lines


@pytest.mark.parametrize("sidecar", ["agent: support <bot>\n", ""])
def test_the_agent_is_named_before_the_first_section(sidecar: str, tmp_path: Path) -> None:
    """By the sidecar or, without one, by the runs."""
    record = good("run") | ({} if sidecar else {"agent": "support <bot>"})
    (tmp_path / "d.jsonl").write_bytes(lines(record))
    (tmp_path / "d.drop.yaml").write_text(sidecar)
    assert command("evaluate", tmp_path / "d.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    folder = tmp_path / "home" / "reports" / "d"
    markdown, page = ((folder / name).read_text() for name in ("report.md", "report.html"))
    assert "Agent: support &lt;bot&gt;" in markdown.partition("\n## ")[0]
    top = page[page.index("<h1>") : page.index('<div class="headline">')]
    assert "<dt>agent</dt> <dd><bdi>support &lt;bot&gt;</bdi></dd>" in top
