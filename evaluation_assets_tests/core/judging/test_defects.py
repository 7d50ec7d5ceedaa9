"""A judge with a defect: its verdicts say what went wrong, the log says where, and neither repeats a key."""

import asyncio
import base64
import logging
from collections.abc import Sequence

import pytest

from evaluation_assets.core.judging.judge import Judgement, judge_chains
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets_tests.conftest import KEY
from evaluation_assets_tests.judging_alone import chains

PASSWORD = base64.b64encode(b"somebody:hunter2").decode()


class Defective(RulesJudge):
    """Fails on every subject, with a message that is not fit to be shown."""

    def __init__(self, message: str) -> None:
        super().__init__("defective")
        self.message = message

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        raise LookupError(self.message)


def verdicts(message: str, monkeypatch: pytest.MonkeyPatch) -> list[Verdict]:
    monkeypatch.setenv("TEST_KEY", KEY)
    judge = Defective(message)
    monkeypatch.setattr(judge, "key_variable", "TEST_KEY")

    async def all_of_them() -> list[Verdict]:
        return [judgement.verdict async for some in judge_chains(judge, chains(2)) for judgement in some]

    return asyncio.run(all_of_them())


def test_a_verdict_says_what_went_wrong_and_the_log_where(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "evaluation_assets"):
        found = verdicts("no rubric of this name", monkeypatch)
    assert {(each.outcome, each.error_kind, each.error) for each in found} == {
        ("failed", "internal", "LookupError: no rubric of this name")
    }
    assert all(set(each.scores.values()) == {None} for each in found), "they were asked about, and are not scored"
    (logged,) = [record.getMessage() for record in caplog.records]
    assert len(found) == 4, "the same defect four times, and one traceback"
    assert logged.startswith("judge defective: internal error\nTraceback")
    assert "raise LookupError(self.message)" in logged


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (f"header x-api-key: {KEY!r} is illegal", "header x-api-key: '[masked]' is illegal"),
        (f"header {{'Authorization': 'Bearer ya29.{KEY}'}}", "header {'Authorization': 'Bearer [masked]'}"),
        (f"Authorization: Basic {PASSWORD} was refused", "Authorization: Basic [masked] was refused"),
        ("no connection to http://somebody:hunter2@host/v1", "no connection to http://[masked]@host/v1"),
    ],
)
def test_neither_repeats_a_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, message: str, shown: str
) -> None:
    with caplog.at_level(logging.ERROR, "evaluation_assets"):
        found = verdicts(message, monkeypatch)
    assert {each.error for each in found} == {f"LookupError: {shown}"}
    assert f"LookupError: {shown}" in caplog.text
    for secret in (KEY, PASSWORD, "hunter2"):
        assert secret not in caplog.text


def test_a_message_that_quotes_a_whole_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {len(each.error or "") for each in verdicts("x" * 100_000, monkeypatch)} == {500}
