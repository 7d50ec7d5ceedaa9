"""What docstrings say about models and their fields."""

from pydantic import BaseModel, ConfigDict, Field

from evaluation_assets.core.text.field_meanings import describe, meanings, prose


class Base(BaseModel):
    """What all have.

    Attributes:
        first: The first one.
        second: The second one.
    """

    model_config = ConfigDict(json_schema_extra=describe)

    first: int = 1
    second: int = 2


class Derived(Base):
    """One with more.

    It has a paragraph.

    Attributes:
        second: Another second one, which
            takes two lines.
        third: The third one.
    """

    third: Base = Field(default=Base(), alias="last")


def test_the_prose_is_the_docstring_without_its_fields() -> None:
    assert prose(Derived) == "One with more.\n\nIt has a paragraph."


def test_a_model_without_a_meaning_of_its_own_has_the_inherited_one() -> None:
    assert meanings(Base) == {"first": "The first one.", "second": "The second one."}
    assert meanings(Derived) == {
        "first": "The first one.",
        "second": "Another second one, which takes two lines.",
        "third": "The third one.",
    }


def test_a_schema_describes_every_field_under_the_name_that_files_use() -> None:
    schema = Derived.model_json_schema(by_alias=True)
    described = {name: field["description"] for name, field in schema["properties"].items()}
    assert described == {
        "first": "The first one.",
        "second": "Another second one, which takes two lines.",
        "last": "The third one.",
    }
    assert (schema["description"], schema["$defs"]["Base"]["description"]) == (prose(Derived), "What all have.")
