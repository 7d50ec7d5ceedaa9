"""Values that are replaced, and texts that stay as they are."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluation_assets.core.models.redaction.redactor import NotRedacted, Redactor
from evaluation_assets.core.models.redaction.settings import NOTHING, Redaction
from evaluation_assets.core.text.plain_text import Visible, visible

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA" + "abc+/9" * 20 + "\n-----END RSA PRIVATE KEY-----"
KEYS = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + "a1B2" * 9,
    "github fine": "github_pat_" + "11ABCDE0" * 5,
    "gitlab": "glpat-" + "x1" * 10,
    "slack": "xoxb-" + "123456789012-abcdefGHIJ",
    "openai": "sk-proj-" + "Ab1_" * 12,
    "anthropic": "sk-ant-api03-" + "Ab1-" * 12,
    "openrouter": "sk-or-v1-" + "0a1b" * 16,
    "google": "AIza" + "S" * 34 + "1",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "pem": PEM,
    "pem in JSON": PEM.replace("\n", "\\n"),
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zd",
}
ALL = Redaction(email=True, telephone=True, payment_cards=True)


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_replaced_and_the_text_around_it_stays(name: str) -> None:
    text = f'the tool printed "{KEYS[name]}" and went on'
    assert Redactor(Redaction())(text) == 'the tool printed "[REDACTED:credential:1]" and went on'
    assert Redactor(NOTHING)(text) == text


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\ufe0f", "\u034f", "\U000e0041", "\x1b[0m", "\u2060\u202e"])
@pytest.mark.parametrize("name", [name for name in KEYS if not name.startswith("pem")])
def test_a_key_is_found_whatever_is_hidden_in_it(name: str, hidden: str) -> None:
    key, redactor = KEYS[name], Redactor(Redaction())
    split = key[:6] + hidden + key[6:10] + hidden + key[10:]
    assert redactor(f"❤️ it is {split}, {key}") == "❤️ it is [REDACTED:credential:1], [REDACTED:credential:1]"
    covered = redactor.covered(f"\u200b❤️ it is {split}\u200b, end")
    assert covered == f"\u200b❤️ it is {'█' * len(split)}\u200b, end"


def test_a_password_with_something_hidden_is_found_everywhere() -> None:
    redactor = Redactor(Redaction())
    assert redactor("pass\u00adword=hun\u200bter2000x") == "pass\u00adword=[REDACTED:credential:1]"
    assert redactor("it was hunter20\ufe0f00x.") == "it was [REDACTED:credential:1]."


@given(st.text(alphabet=st.sampled_from("ab\u200b\u00ad\x1b[m0\ufe0f"), max_size=30))
def test_what_is_seen_knows_its_places(text: str) -> None:
    seen = Visible(text)
    assert seen.text == visible(text)
    for index, character in enumerate(seen.text):
        start, end = seen.span(index, index + 1)
        assert text[start:end] == character


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"),
        ("-H 'authorization: basic " + base64.b64encode(b"anna:geheim").decode() + "'", "YW5uYTpnZWhlaW0="),
        ("postgresql://anna:geheim@db.example.org/x", "geheim"),
        ('{"api_key": "0123456789abcdef0123"}', "0123456789abcdef0123"),
        ('{\\"client_secret\\": \\"0123456789abcdef0123\\"}', "0123456789abcdef0123"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
        ("password: hunter2hunter2", "hunter2hunter2"),
        ('{"token": "0123456789abcdef0123"}', "0123456789abcdef0123"),
        ("AccountName=a;AccountKey=0123456789abcdef0123==;", "0123456789abcdef0123=="),
        ("Cookie: sessionid=0123456789abcdef0123; lang=de", "0123456789abcdef0123"),
        ("client_secret%3D0123456789abcdef0123", "0123456789abcdef0123"),
        ("idAKIA0123456789ABCDEF.", "AKIA0123456789ABCDEF"),
        ("postgres://anna:p@ss1@db/x", "p@ss1"),
    ],
)
def test_of_a_header_an_address_or_a_setting_only_the_secret_is_replaced(text: str, secret: str) -> None:
    assert secret in text
    assert Redactor(Redaction())(text) == text.replace(secret, "[REDACTED:credential:1]")


@pytest.mark.parametrize(
    "text",
    [
        "a bearer of good news came; basic understanding of tokens",
        '<div class="sk-toggleable__content-arrow fitted" id="sk-container-id-1">',
        "https://example.org:8080/path?q=a@b",
        "commit 0123456789abcdef0123456789abcdef01234567 in task-0123456789abcdef0123456789abcdef",
        "api_key: str, access_token=None, AKIA",
        "max_tokens: 20000, the password: required, tokens = 0123456789abcdef0123",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "x" * 100_000,
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor(Redaction())(text) == text


def test_a_private_key_without_its_end_is_replaced_and_prose_after_it_stays() -> None:
    text = PEM.split("\n-----END")[0] + "\nThis is what I found."
    assert Redactor(Redaction())(text) == "[REDACTED:credential:1]\nThis is what I found."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mail anna@example.org now", "mail [REDACTED:email:1] now"),
        ("call +49 30 1234-5678!", "call [REDACTED:telephone:1]!"),
        ("call (212) 555-0123.", "call [REDACTED:telephone:1]."),
        ("card 4111 1111 1111 1111, exp", "card [REDACTED:payment_card:1], exp"),
        ("no card 4111 1111 1111 1112", "no card 4111 1111 1111 1112"),
        ("order 2026-11-23 12:30:45, 192.168.100.200", "order 2026-11-23 12:30:45, 192.168.100.200"),
    ],
)
def test_personal_data_is_replaced_where_asked(text: str, shown: str) -> None:
    assert Redactor(ALL)(text) == shown
    assert Redactor(Redaction())(text) == text


def test_the_same_value_has_the_same_number_whatever_is_shown_first() -> None:
    texts = ["a@example.org asks b@example.org", "b@example.org answers a@example.org"]
    redactor = Redactor(Redaction(email=True), texts)
    assert redactor(texts[1]) == "[REDACTED:email:2] answers [REDACTED:email:1]"
    assert redactor(redactor(texts[1])) == redactor(texts[1])
    assert redactor.counts(redactor(texts[1])) == {"email": 2}
    assert not redactor.counts("[REDACTED:email:99] [REDACTED:credential:1]"), "what a text says by itself"


def test_own_patterns_have_their_own_kind() -> None:
    redactor = Redactor(Redaction(patterns={"employee": r"E-\d{6}"}))
    assert redactor("E-123456 and E-123457 and E-123456") == (
        "[REDACTED:employee:1] and [REDACTED:employee:2] and [REDACTED:employee:1]"
    )


def test_a_pattern_that_takes_for_ever_lets_nothing_out() -> None:
    redactor = Redactor(Redaction(patterns={"slow": r"(?:a|aa)+$"}))
    with pytest.raises(NotRedacted, match="the redaction pattern slow takes longer than 1 s"):
        redactor("a" * 5_000 + "b")


@pytest.mark.parametrize("patterns", [{"email": "x"}, {"Bad": "x"}, {"a": "("}, {"a": "x*"}])
def test_patterns_that_cannot_be_meant_are_refused(patterns: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Redaction(patterns=patterns)


HOSTILE = [
    "sk-",
    "eyJ",
    "-----BEGIN PRIVATE KEY-----",
    "://a:",
    "a@",
    "+1 ",
    "0 ",
    "bearer ",
    "api_key=",
    "1-",
    "a.",
    "://",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_searched_in_time_in_proportion(piece: str) -> None:
    """Where a pattern takes quadratic time, this does not end."""
    text = piece * (1_000_000 // len(piece))
    assert Redactor(ALL)(text)


@given(st.text(), st.sampled_from(sorted(KEYS)), st.text())
def test_no_key_gets_through_between_other_texts(before: str, name: str, after: str) -> None:
    assert KEYS[name] not in Redactor(ALL)(f"{before} {KEYS[name]}\n{after}")


@pytest.mark.parametrize(
    ("told", "value"), [("password={}", "hunter2hunter2"), ("://anna:{}@db", "p4ssw0rd"), ("Bearer {}", "abc0" * 5)]
)
def test_what_is_known_from_elsewhere_is_replaced_wherever_it_stands(told: str, value: str) -> None:
    redactor = Redactor(Redaction(), [f"I log in with {value}.", told.format(value)])
    assert redactor(f"I log in with {value}, not with {value[:-1]}.") == (
        f"I log in with [REDACTED:credential:1], not with {value[:-1]}."
    )


def test_a_password_that_is_an_ordinary_word_is_replaced_in_its_place_only() -> None:
    redactor = Redactor(Redaction(), ["postgres://anna:postgres@db/x"])
    assert redactor("a postgres server") == "a postgres server"


def test_many_values_that_begin_alike_are_searched_in_time_in_proportion() -> None:
    """Where each of them is compared at each place, this does not end."""
    values = (f"password={'a' * 9}{number}x " for number in range(5_000))
    assert Redactor(Redaction(), ["".join(values)])("a" * 200_000)


def test_covered_texts_are_as_long_as_before_and_hold_no_part_of_a_value() -> None:
    key = KEYS["github"]
    redactor = Redactor(Redaction(), [f"use {key}"], also_parts=True)
    for text in (f"use {key} now", f"use {key[:20]}…", "use ghp_"):
        covered = redactor.covered(text)
        assert len(covered) == len(text) and key[4:12] not in covered
    assert redactor.covered(f"use {key[:20]}…") == f"use {20 * chr(0x2588)}…"
