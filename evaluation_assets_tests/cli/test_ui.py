"""What `ui` says of models before it starts: new drops are sent to them without a question."""

from pathlib import Path

import pytest

from evaluation_assets.cli.ui import asked_about_drops
from evaluation_assets.core.judging.panel import panel_of
from evaluation_assets.core.system.installation import Installation

RULES = {"name": "rules", "provider": "rules"}
MODELS = [{"name": name, "provider": "anthropic", "model": "claude"} for name in ("cheap", "dear")]


@pytest.mark.parametrize(
    ("panel", "settings", "said"),
    [
        ({"judges": [RULES]}, "", None),
        ({"judges": [RULES, *MODELS], "everyday": ["rules"]}, "", None),
        ({"judges": [RULES, *MODELS], "everyday": ["cheap"]}, "", "New drops are sent to cheap, without a limit; "),
        (
            {"judges": [RULES, *MODELS]},
            "sensors: {budget_usd_per_day: 2.5}\n",
            "New drops are sent to cheap, dear, for at most $2.5 a day",
        ),
    ],
)
def test_who_is_asked_about_new_drops_and_for_how_much(
    tmp_path: Path, panel: dict[str, object], settings: str, said: str | None
) -> None:
    (tmp_path / "gate.yaml").write_text(settings)
    asked = asked_about_drops(Installation.at(str(tmp_path)), panel_of(panel, "panel"))
    assert asked is said is None or (asked is not None and said is not None and asked.startswith(said))
