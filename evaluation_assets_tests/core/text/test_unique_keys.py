"""Plain texts in YAML stay texts, and numbers are decimal."""

import math
from typing import Any

import pytest
import yaml

from evaluation_assets.core.text.unique_keys import UniqueKeyLoader, settings_of, settings_text

TEXTS = ["12:30", "1:2:3.5", "01234", "-01", "0x1F", "0b11", "1_000", "1_0.5", "9e4b8c7d", "1.2.3", "+", "."]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_decimal_number_is_a_text(text: str) -> None:
    assert yaml.load(text, UniqueKeyLoader) == text
    assert settings_of(text) == text


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("-12", -12), ("+3", 3), ("1.10", 1.1), (".5", 0.5), ("0.5", 0.5)]
)
def test_decimal_numbers_are_numbers(text: str, value: float) -> None:
    assert yaml.load(text, UniqueKeyLoader) == value
    assert settings_of(text) == value


def test_exponents_are_numbers_in_settings() -> None:
    assert settings_of("[1e6, 1.5e-3, 1.5e+3]") == [1e6, 0.0015, 1500.0]
    assert settings_of(".inf") == math.inf


@pytest.mark.parametrize(
    "value", [*TEXTS, "1e6", "1e234567", "1.5e3", "12", "1.5", ".inf", "yes", "null", 5, 0.5, None]
)
def test_what_is_written_is_read(value: Any) -> None:
    assert settings_of(settings_text({"a": value})) == {"a": value}
    if isinstance(value, str):
        assert settings_of(settings_text({value: 1})) == {value: 1}
