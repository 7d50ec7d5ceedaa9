"""A value is set in YAML that people wrote, and nothing else changes."""

import pytest
import yaml

from evaluation_assets.core.text.yaml_edits import CannotEdit, with_value

PANEL = """\
# our judges
judges:
  - name: one   # the first
    model: m  # fast

  # the second
  - {name: two, model: n}
quorum: 1
"""


def test_comments_stay() -> None:
    text = with_value(PANEL, ["judges", 0, "map"], [[0.0, 0.1], [1.0, 0.9]])
    assert yaml.safe_load(text)["judges"][0]["map"] == [[0.0, 0.1], [1.0, 0.9]]
    added = ["    map:", "    - [0.0, 0.1]", "    - [1.0, 0.9]"]
    assert text.splitlines() == [*PANEL.splitlines()[:4], *added, *PANEL.splitlines()[4:]]
    again = with_value(text, ["judges", 0, "map"], [[0.5, 0.5]])
    assert again.splitlines() == [*PANEL.splitlines()[:4], *added[:1], "    - [0.5, 0.5]", *PANEL.splitlines()[4:]]


def test_values_in_braces_stay_in_braces() -> None:
    text = with_value(PANEL, ["judges", 1, "map"], [[0.0, 1.0]])
    assert "{name: two, model: n, map: [[0.0, 1.0]]}" in text
    assert "map: [[0.5, 1.0]]}" in with_value(text, ["judges", 1, "map"], [[0.5, 1.0]])


def test_hostile_texts_are_values() -> None:
    value = [{"work": "a\n  - b: [\n# c\ttab\x85{{\n'\"", "label": 1.0}, {"work": "---\n...\n", "label": 0.0}]
    assert yaml.safe_load(with_value("version: 1\n", ["examples"], value))["examples"] == value


@pytest.mark.parametrize(
    "text", ["base: &base {model: m}\none: {<<: *base}\n", "one:\n  text: |+\n    kept\n\n\nother: 1\n"]
)
def test_what_cannot_be_edited_is_refused(text: str) -> None:
    with pytest.raises(CannotEdit):
        with_value(text, ["one", "map"], 2)
