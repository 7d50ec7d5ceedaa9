"""The reference of all settings files says what each field means."""

import pytest
from pydantic import BaseModel

from evaluation_assets.core.text.field_meanings import meanings
from evaluation_assets_tests.generated_pages.settings import FILES, models, page

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


@pytest.mark.parametrize(
    ("section", "entry"),
    [
        ("`panel.yaml`", "- `quorum` (integer; `1`): Number of judges"),
        ("`gate`", '- `rule` (`paired`, `tolerance`; `"paired"`): '),
        ("`price` of endpoint settings", "- `input` (number; required): Price of input tokens."),
        ("`type: mlflow`", "- `filter`: A filter string of MLflow"),
        ("`type: mlflow`", "- `tracking_uri` (required): Address of the tracking server."),
    ],
)
def test_a_field_is_listed_with_its_type_default_and_meaning(section: str, entry: str) -> None:
    assert f"\n{entry}" in text_of(section)


def test_a_default_that_an_entry_changes_is_named_without_the_whole_field() -> None:
    assert '[Source settings](#source-settings), `format` with the default `"mlflow"`, and' in text_of("`type: mlflow`")
    assert "- `format`" not in text_of("`type: mlflow`")


def text_of(section: str) -> str:
    return page(FILES).partition(f"# {section}\n")[2].partition("\n#")[0]
