"""checks.yaml: what is accepted, what is refused and why, and rules as sentences."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from upath import UPath

from evaluation_assets.core.sections.constraints.sentences import sentence
from evaluation_assets.core.sections.constraints.settings import InvalidChecks, load_checks
from evaluation_assets_tests.core.sections.constraints.running import constraint


def loaded(folder: Path, rule: dict[str, Any]) -> None:
    (folder / "checks.yaml").write_text(yaml.safe_dump({"constraints": {"rule": rule}}))
    load_checks(UPath(folder / "checks.yaml"))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "a constraint has exactly one of: never, always, at_most, answer, never_pass"),
    ({"never": "a", "always": "b"}, "a constraint has exactly one of"),
    ({"at_most": 3}, "at_most needs of"),
    ({"never": "a", "of": "b"}, "at_most needs of"),
    ({"never": "a", "before": "b", "after": "c"}, "set before or after, not both"),
    ({"at_most": 1, "of": "a", "before": "b"}, "before and after belong to never and always, not to at_most"),
    ({"never": "a", "before": "answer"}, "before: answer belongs to always"),
    ({"never": {"arguments": {"a": {}}}}, "never.arguments.a: an empty condition; set one of: equals"),
    ({"never": {"arguments": {"a": {"match": "x"}}}}, "did you mean 'matches' or 'not_matches'?"),
    ({"never": {"arguments": {"a": {"matches": "("}}}}, "not a regular expression: missing ) at position"),
    ({"never": {"arguments": {"$.a[": 1}}}, "not a JSONPath"),
    ({"never": {"arguments": {"$.a[?search(@, 'x')]": 1}}}, "function 'search' is not defined"),
    ({"never": {"result_values": {"a": 1}}}, "a JSONPath begins with $"),
    ({"answer": {}}, "set cites, matches or not_matches"),
    ({"answer": {"matches": "a", "cited_values": "$.a"}}, "cited_values needs cites"),
    ({"never_pass": {"matches": "a", "values": "$.a"}}, "set either matches or values"),
    ({"never": "a", "same": "b"}, "same belongs to before, after and at_most"),
    ({"always": "a", "before": "answer", "same": "b"}, "same compares calls"),
    ({"never": "a", "severity": "fatal"}, "severity: must be 'error' or 'warn'"),
    ({"never": "a", "where": {"agent": "x"}}, "did you mean 'agents'?"),
    ({"nevr": "a"}, "unknown field; did you mean 'never'?"),
]


@pytest.mark.parametrize(("rule", "why"), REFUSED)
def test_what_is_refused_names_file_and_field(tmp_path: Path, rule: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidChecks) as refused:
        loaded(tmp_path, rule)
    file, line, told = str(refused.value).split(":", 2)
    assert file == str(tmp_path / "checks.yaml") and line.isdecimal() and told.startswith(" constraints.rule")
    assert why in str(refused.value)


def test_names_of_constraints_are_checked(tmp_path: Path) -> None:
    (tmp_path / "checks.yaml").write_text("constraints: {'No refunds': {never: refund}}\n")
    with pytest.raises(InvalidChecks, match=r"constraints\.No refunds"):
        load_checks(UPath(tmp_path / "checks.yaml"))


def test_no_file_is_no_constraints(tmp_path: Path) -> None:
    assert load_checks(UPath(tmp_path / "checks.yaml")).constraints == {}


SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({"never": "refund", "before": "verify_identity"}, "Never call `refund` before `verify_identity`"),
    (
        {"never": {"arguments": {"path": {"outside": "/workspace"}}}},
        "Never call any tool where `path` is outside the folder `/workspace`",
    ),
    ({"at_most": 3, "of": "search"}, "Call `search` at most 3 times"),
    ({"always": "confirm", "before": "answer"}, "Always call `confirm` before the answer"),
    (
        {"always": {"tool": "log", "fails": False}, "after": "pay"},
        "Always call `log` where the call succeeds after `pay`",
    ),
    ({"never": "a", "before": "b", "same": "id"}, "Never call `a` before `b` with the same `id`"),
    ({"answer": {"cites": "*"}}, "The answer cites a result of any tool"),
    (
        {"never_pass": "/password/i"},
        "Never pass what matches `/password/i` in a result of any tool into arguments of any tool",
    ),
    (
        {"never": {"tool": "buy", "agent": "bot", "arguments": {"n": {"at_least": 2, "below": 9}, "x": [1, True]}}},
        "Never call `buy` by agent `bot` where `n` is below `9` and is at least `2` and `x` is one of `1`, `true`",
    ),
    ({"never": "a", "description": "Ask first"}, "Ask first"),
]


@pytest.mark.parametrize(("rule", "words"), SENTENCES)
def test_a_rule_is_a_sentence(rule: dict[str, Any], words: str) -> None:
    assert sentence(constraint(rule)) == words
