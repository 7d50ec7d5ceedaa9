"""Every reason for which a record is rejected has a description in the report."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import evaluation_assets.core
from evaluation_assets.core.report.render import environment

CORE = Path(evaluation_assets.core.__file__ or "").parent
POSITIONS = {"UnusableRecord": 0, "Rejection": 2}
"""The argument that holds the reason, by class."""


def reasons() -> Iterator[str]:
    """The reasons that readers give, from the source."""
    for module in CORE.rglob("*.py"):
        for call in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in POSITIONS:
                given = call.args[POSITIONS[call.func.id]] if len(call.args) > POSITIONS[call.func.id] else None
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    yield given.value


def test_every_reason_is_described_in_the_report() -> None:
    given: Any = environment().get_template("_words.j2").module
    found = set(reasons())
    assert {"bad_json", "reader_failed"} <= found
    assert found - set(given.REASONS) == set()
