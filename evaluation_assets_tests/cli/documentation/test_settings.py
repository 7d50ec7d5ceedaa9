"""The reference of all settings files says what each field means."""

import pytest
from pydantic import BaseModel

from evaluation_assets.cli.documentation.settings import FILES, meanings, models, page
from evaluation_assets.core.configuration import Section
from evaluation_assets.core.judging.panel import JudgeSettings
from evaluation_assets.core.llm.endpoints import EndpointSettings

MODELS = sorted(models(), key=lambda model: model.__name__)


class Base(Section):
    """What all have.

    Attributes:
        first: The first one.
        second: The second one.
    """

    first: int = 1
    second: int = 2


class Derived(Base):
    """One with more.

    Attributes:
        second: Another second one.
    """

    third: int = 3


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


def test_a_model_without_a_meaning_of_its_own_has_the_inherited_one() -> None:
    assert meanings(Derived) == {"first": "The first one.", "second": "Another second one."}
    assert meanings(JudgeSettings)["project"] == meanings(EndpointSettings)["project"]


def test_each_file_has_one_section() -> None:
    headings = [line for line in page(FILES).splitlines() if line.startswith("## ")]
    assert headings == [f"## `{file.name}`" for file in FILES]
    assert len(set(headings)) == len(headings)


def test_every_row_of_the_page_ends_with_a_meaning() -> None:
    rows = [line for line in page(FILES).splitlines() if line.startswith("| `")]
    assert rows
    assert [row for row in rows if row.endswith("|  |")] == []
