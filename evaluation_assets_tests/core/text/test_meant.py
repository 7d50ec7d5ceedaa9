"""What somebody may have meant by an unknown name."""

import pytest

from evaluation_assets.core.text.meant import did_you_mean


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("airlin/v2", ["airline/v2", "chat"], "did you mean 'airline/v2'?"),
        ("v1", ["airline/v1", "chat"], "did you mean 'airline/v1'?"),
        ("v1", ["airline/v1", "shop/V1"], "did you mean 'shop/V1' or 'airline/v1'?"),
        ("drop", ["drop1", "drop2", "drop3", "drop4"], "did you mean 'drop1' or 'drop2' or 'drop3'?"),
        ("cost", ["success"], "choose one of: success"),
        ("temprature", ["structured"], "choose one of: success"),
        ("temprature", ["structured", "temperature"], "did you mean 'temperature'?"),
        ("tow", ["two"], "did you mean 'two'?"),
        ("s", ["success"], "choose one of: success"),
        ("", ["success"], "choose one of: success"),
        ("cost", [], "choose one of: success"),
    ],
)
def test_names_that_are_near_are_offered(name: str, known: list[str], meant: str) -> None:
    assert did_you_mean(name, known, "choose one of: success") == meant


def test_without_a_near_name_nothing_is_said() -> None:
    assert did_you_mean("cost", ["success"]) == ""
