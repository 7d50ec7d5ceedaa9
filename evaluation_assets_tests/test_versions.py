"""Version strings that people raise: an output that changes without its version is noticed, and the string is named."""

import ast
from dataclasses import replace
from pathlib import Path

import evaluation_assets
from evaluation_assets_tests.recorded_outputs import Recorded, computed, findings, recorded

PACKAGE = Path(evaluation_assets.__file__).parent
OF_OTHERS = {"evaluation_assets.core.traces.formats.writers.atif:SCHEMA_VERSION"}
"""Versions of formats that other projects define."""

BEFORE = {"reader:V": Recorded("1", "a"), "rules:V": Recorded("4", "b"), "report:V": Recorded("2", "c")}


def version_strings() -> set[str]:
    """`module:NAME` of every constant of the package that is called a version."""
    return {
        f"{'.'.join(file.relative_to(PACKAGE.parent).with_suffix('').parts)}:{target.id}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.endswith("_VERSION")
    }


def test_what_small_inputs_become_is_what_was_recorded_under_these_versions() -> None:
    assert findings(recorded(), computed()) == []


def test_every_version_string_stands_for_a_recorded_output() -> None:
    assert version_strings() - OF_OTHERS == recorded().keys()


def test_a_changed_output_names_the_first_string_to_raise() -> None:
    now = BEFORE | {"rules:V": Recorded("4", "other"), "report:V": Recorded("2", "other")}
    (said,) = findings(BEFORE, now)
    assert "raise rules:V" in said


def test_a_raised_version_asks_to_record_anew_whether_its_output_changed_or_not() -> None:
    for digest in ("b", "other"):
        (said,) = findings(BEFORE, BEFORE | {"rules:V": Recorded("5", digest)})
        assert said == "rules:V is 5; record anew: python -m evaluation_assets_tests.recorded_outputs"


def test_a_string_that_is_new_asks_to_record_it() -> None:
    (said,) = findings(BEFORE, BEFORE | {"new:V": replace(BEFORE["rules:V"], version="1")})
    assert said.startswith("new:V is 1; ")
