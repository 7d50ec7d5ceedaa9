"""The stages of a cascade in a panel."""

from typing import Any

import pytest

from evaluation_assets.core.judging.panel import InvalidPanel, Panel, panel_of


def panel(cascade: list[Any], quorum: int = 1) -> Panel:
    judges = [{"name": name, "provider": "recorded"} for name in ("small", "one", "other", "aside")]
    return panel_of({"quorum": quorum, "judges": judges, "cascade": cascade}, "panel.yaml")


def test_a_stage_of_one_judge_needs_no_list() -> None:
    assert panel(["small", ["one", "other"]]).cascade == (("small",), ("one", "other"))


@pytest.mark.parametrize(
    ("cascade", "quorum", "message"),
    [
        (["small", "smal"], 1, "cascade: no judge 'smal' in the panel; did you mean 'small'?"),
        (["small", ["one", "small"]], 1, "a judge can be in one stage only"),
        (["small"], 1, "name at least two stages"),
        (["small", []], 1, "cascade"),
        (["small", ["one", "other"]], 3, "quorum 3 cannot be reached .*: 2 judges are asked about everything"),
    ],
)
def test_stages_that_cannot_work_are_refused(cascade: list[Any], quorum: int, message: str) -> None:
    with pytest.raises(InvalidPanel, match=message):
        panel(cascade, quorum)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"everyday": ["cheep"]}, "everyday: no judge 'cheep' in the panel; did you mean 'cheap'?"),
        ({"everyday": ["cheap"], "cascade": ["cheap", "dear"]}, "everyday: the cascade decides"),
    ],
)
def test_judges_of_every_day_that_cannot_be_are_refused(written: dict[str, Any], message: str) -> None:
    judges = [{"name": name, "provider": "recorded"} for name in ("cheap", "dear")]
    with pytest.raises(InvalidPanel, match=message):
        panel_of({"judges": judges, **written}, "panel.yaml")
