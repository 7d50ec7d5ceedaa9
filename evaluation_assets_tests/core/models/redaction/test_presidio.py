"""Personal data that Presidio recognises is replaced as what our own patterns find; nothing is fetched for that."""

import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluation_assets.core.models.redaction.redactor import NotRedacted, Redactor
from evaluation_assets.core.models.redaction.settings import Redaction

pytestmark = pytest.mark.skipif(find_spec("presidio_analyzer") is None, reason="presidio-analyzer is not installed")

TEXT = "Call +1 212-555-0123 or write to ann@example.com; SSN 536-90-4399; card 4111 1111 1111 1111; IP 10.1.2.3."


def redactor(*entities: str, **more: Any) -> Redactor:
    presidio = {"entities": entities} | more
    return Redactor(Redaction.model_validate({"presidio": presidio}))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("Presidio went to the network")

    monkeypatch.setattr(socket, "getaddrinfo", refused)


def test_entities_that_rules_tell_are_replaced_and_others_stay() -> None:
    replaced = redactor("PHONE_NUMBER", "US_SSN")(TEXT)
    assert "[REDACTED:phone_number:1]" in replaced
    assert "[REDACTED:us_ssn:1]" in replaced
    assert "212" not in replaced
    assert "536-90-4399" not in replaced
    assert "4111 1111 1111 1111" in replaced
    assert "10.1.2.3" in replaced
    assert "ann@example.com" in replaced


def test_the_same_value_has_the_same_number_and_findings_are_counted() -> None:
    found = redactor("IP_ADDRESS")
    assert found("from 10.1.2.3") == "from [REDACTED:ip_address:1]"
    assert found("to 10.9.9.9 by 10.1.2.3") == "to [REDACTED:ip_address:2] by [REDACTED:ip_address:1]"
    assert found.counts(found("10.1.2.3 and 10.1.2.3")) == {"ip_address": 2}


def test_a_long_text_is_searched_to_its_end_and_where_its_parts_meet() -> None:
    address = "10.1.2.3"
    for before in (0, 99_795, 99_995, 199_600, 250_000):
        text = "word " * (before // 5) + address + " word" * 2
        assert address not in redactor("IP_ADDRESS")(text)


def test_a_spacy_model_of_a_folder_tells_names(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    model = spacy.blank("en")
    model.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ann Miller"}])
    model.to_disk(tmp_path / "model")
    found = redactor("PERSON", model=str(tmp_path / "model"))
    assert found("I am Ann Miller.") == "I am [REDACTED:person:1]."


def test_unknown_entities_let_no_text_leave_and_are_named() -> None:
    with pytest.raises(NotRedacted, match=r"Presidio does not know SHOE_SIZE; choose among .*US_SSN"):
        redactor("SHOE_SIZE", "US_SSN")("a text")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"entities": []}, "at least 1 item"),
        ({"entities": ["EMAIL_ADDRESS"]}, "use `email: true`"),
        ({"entities": ["PERSON"], "model": "no_such_model"}, "spacy download no_such_model"),
        ({"entities": ["PERSON"], "minimum_score": 2}, "less than or equal to 1"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Redaction.model_validate({"presidio": settings})
