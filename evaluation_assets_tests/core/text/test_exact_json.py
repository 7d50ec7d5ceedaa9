from typing import Any

import orjson
import pytest

from evaluation_assets.core.text.exact_json import loads


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12345678901234567890", 12345678901234567890),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", "18446744073709551616"),
        ('{"order":123456789012345678901234567890}', {"order": "123456789012345678901234567890"}),
        ("[-123456789012345678901,\n123456789012345678902 ]", ["-123456789012345678901", "123456789012345678902"]),
        ('{"said": "id 123456789012345678901, please"}', {"said": "id 123456789012345678901, please"}),
        ("[0.00012345678901234567890, 123456789012345678901e2]", [0.00012345678901234567, 1.2345678901234568e22]),
    ],
)
def test_integers_keep_their_digits(text: str, value: Any) -> None:
    assert loads(text) == loads(text.encode()) == value
    assert [type(loads(text)), repr(loads(text))] == [type(value), repr(value)]


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(orjson.JSONDecodeError):
        loads("[123456789012345678901, NaN]")
