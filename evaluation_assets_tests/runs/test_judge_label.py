"""How a judge is named beside its bar."""

import pytest

from evaluation_assets.core.lake.tables.verdicts import BY_LEVEL
from evaluation_assets.runs.progress import judge_label


@pytest.mark.parametrize("level", BY_LEVEL)
def test_the_level_stays_where_the_name_of_the_judge_is_long(level: str) -> None:
    names = ("claude_sonnet_with_a_long_name_1", "claude_sonnet_with_a_long_name_2")
    for columns in (40, 80, 160):
        labels = [judge_label(name, level, columns // 3) for name in names]
        assert all(len(label) <= max(columns // 3, len(f"  a…b: {level}")) for label in labels)
        assert all(label.endswith(f": {level}") for label in labels)
        assert len({*labels}) == len(names), "judges that begin alike are told apart"
    assert judge_label("gpt", level, 26) == f"  gpt: {level}"
