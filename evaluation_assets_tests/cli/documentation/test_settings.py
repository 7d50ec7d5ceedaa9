"""The reference of all settings files says what each field means."""

import pytest
from pydantic import BaseModel

from evaluation_assets.cli.documentation.settings import FILES, models, page
from evaluation_assets.core.text.field_meanings import meanings

MODELS = sorted(models(), key=lambda model: model.__name__)


def test_the_models_of_all_files_and_of_their_fields_are_found() -> None:
    assert {model for file in FILES for model in file.models.values()} < {*MODELS}
    assert {"JudgeSettings", "Timeouts", "Condition", "McpServer", "ParameterRule"} <= {
        each.__name__ for each in MODELS
    }


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_has_a_meaning(model: type[BaseModel]) -> None:
    found = meanings(model)
    assert [name for name in model.model_fields if not found.get(name)] == [], "add them to `Attributes:`"
    assert [name for name in model.model_fields if not found[name].endswith(".")] == [], "write sentences"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_meaning_is_that_of_a_field_that_is_gone(model: type[BaseModel]) -> None:
    assert set(meanings(model)) <= set(model.model_fields)


def test_each_file_has_one_section() -> None:
    headings = [line for line in page(FILES).splitlines() if line.startswith("## ")]
    assert headings == [f"## `{file.name}`" for file in FILES]
    assert len(set(headings)) == len(headings)


def test_every_row_of_the_page_ends_with_a_meaning() -> None:
    rows = [line for line in page(FILES).splitlines() if line.startswith("| `")]
    assert rows
    assert [row for row in rows if row.endswith("|  |")] == []
