"""Secrets are found however they are written."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.text.masking import MASKED, Mask, masked

secrets = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs", "Z", "C"]), min_size=9, max_size=40)


@given(secrets, st.binary(max_size=5), st.binary(max_size=5))
def test_every_way_to_write_a_secret_is_masked(secret: str, before: bytes, after: bytes) -> None:
    mask = Mask([secret])
    for written in (
        secret,
        f"Bearer {secret}",
        json.dumps({"key": secret}),
        json.dumps({"key": secret}, ensure_ascii=False),
        quote(secret, safe=""),
        quote_plus(secret),
        secret.encode().hex(),
        base64.b64encode(before + secret.encode() + after).decode(),
        base64.urlsafe_b64encode(before + secret.encode() + after).decode(),
    ):
        assert MASKED in mask(f"<{written}>")


@given(secrets, st.text())
def test_nothing_else_is_changed(secret: str, text: str) -> None:
    mask = Mask([secret])
    masked = mask(text)
    assert masked == text or MASKED in masked
    assert mask(f"a {secret} b") == f"a {MASKED} b"


@pytest.mark.parametrize("values", [[], [""], ["1", "true", "info"], ["  "]])
def test_values_too_short_for_a_key_are_left(values: list[str]) -> None:
    assert Mask(values)("1 is true, for your info") == "1 is true, for your info"


def test_the_key_of_an_authorization_is_masked_by_itself() -> None:
    assert Mask(["Bearer sk-12345678"])("use sk-12345678 as bearer") == f"use {MASKED} as bearer"


def test_characters_that_are_not_seen_hide_no_secret() -> None:
    mask = Mask(["opaque/secret"])
    assert mask("an\u200bd opa\u200bque/\u00adsecret or no\u200bne") == f"an\u200bd {MASKED} or no\u200bne"
    assert Mask(["opaque\u200b/secret"])("opaque\u200b/secret") == MASKED


def test_every_text_of_a_json_value_is_masked() -> None:
    value = {"model": "opaque/secret", "choices": [{"message": {"content": "it is opaque/secret"}}], "n": 1, "x": None}
    assert masked(value, Mask(["opaque/secret"])) == {
        "model": MASKED,
        "choices": [{"message": {"content": f"it is {MASKED}"}}],
        "n": 1,
        "x": None,
    }
