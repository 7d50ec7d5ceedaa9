from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evaluation_assets.core.text.faults import faults_of


class Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str
    times: int = 1


class Case(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(max_length=9)
    calls: tuple[Call, ...] = ()
    share: float = Field(default=0, le=1)
    is_open: bool = False
    kind: Literal["a", "b"] = "a"

    @field_validator("id")
    @classmethod
    def _named(cls, value: str) -> str:
        if not value:
            raise ValueError("name the case")
        return value


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "cases[2].id: is missing"),
        ({"id": 7}, "cases[2].id: must be text; put it in quotes if it looks like a number or a date"),
        ({"id": ""}, "cases[2].id: name the case"),
        ({"id": "0123456789"}, "cases[2].id: must have at most 9 characters"),
        ({"id": "x", "calls": 3}, "cases[2].calls: must be a list"),
        ({"id": "x", "calls": [3]}, "cases[2].calls[0]: must be fields with values, as in `name: value`"),
        ({"id": "x", "calls": [{"tool": "y", "times": 1.5}]}, "cases[2].calls[0].times: must be a whole number"),
        ({"id": "x", "share": "all"}, "cases[2].share: must be a number"),
        ({"id": "x", "share": "0,05"}, "cases[2].share: must be a number; write 0.05, not 0,05"),
        ({"id": "x", "share": "5%"}, "cases[2].share: must be a number; write 0.05, not 5%"),
        ({"id": "x", "share": "1,000"}, "cases[2].share: must be a number"),
        ({"id": "x", "share": 2}, "cases[2].share: must be less than or equal to 1"),
        ({"id": "x", "is_open": "perhaps"}, "cases[2].is_open: must be true or false"),
        ({"id": "x", "kind": "c"}, "cases[2].kind: must be 'a' or 'b'"),
        ({"id": "x", "cals": []}, "cases[2].cals: unknown field"),
        (3, "cases[2]: must be fields with values, as in `name: value`"),
    ],
)
def test_a_fault_is_said_in_words_of_the_file_and_repeats_no_value_but_a_number(data: object, said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Case.model_validate(data)
    assert [str(fault) for fault in faults_of(raised.value, ("cases", 2))] == [said]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"id": "x", "cals": []}, "cases[2].cals: unknown field; did you mean 'calls'?"),
        (
            {"id": "x", "calls": [{"tool": "y", "tims": 1}]},
            "cases[2].calls[0].tims: unknown field; did you mean 'times'?",
        ),
        ({"id": "x", "zzz": 1}, "cases[2].zzz: unknown field; known: id, calls, share, is_open, kind"),
    ],
)
def test_an_unknown_field_of_a_known_model_is_told_with_the_fields_that_may_be_meant(data: object, said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Case.model_validate(data)
    assert [str(fault) for fault in faults_of(raised.value, ("cases", 2), Case)] == [said]


def test_a_model_says_where_values_go_that_are_no_fields_of_it() -> None:
    class Endpoint(BaseModel):
        model_config = ConfigDict(extra="forbid")
        unknown_field_hint: ClassVar[str] = "the rest goes into `parameters`"

        structured: str = "auto"

    with pytest.raises(ValidationError) as raised:
        Endpoint.model_validate({"temprature": 0})
    (fault,) = faults_of(raised.value, model=Endpoint)
    assert str(fault) == "temprature: unknown field; the rest goes into `parameters`; known: structured"


def test_a_fault_of_the_whole_has_no_place() -> None:
    with pytest.raises(ValidationError) as raised:
        Case.model_validate([])
    assert str(faults_of(raised.value)[0]) == "must be fields with values, as in `name: value`"


def test_alternatives_of_a_field_are_not_part_of_its_place() -> None:
    class Weighted(BaseModel):
        weights: Literal["calls"] | dict[Literal["order", "schema"], float]

    with pytest.raises(ValidationError) as raised:
        Weighted.model_validate({"weights": {"order": "much"}})
    assert [str(fault) for fault in faults_of(raised.value)] == [
        "weights: must be 'calls'",
        "weights.order: must be a number",
    ]


def test_a_field_whose_name_is_wrong_is_told_from_one_whose_value_is() -> None:
    class Named(BaseModel):
        rules: dict[Annotated[str, Field(max_length=3)], int]

    with pytest.raises(ValidationError) as raised:
        Named.model_validate({"rules": {"long": 1}})
    assert [str(fault) for fault in faults_of(raised.value)] == ["rules.long: the name must have at most 3 characters"]
