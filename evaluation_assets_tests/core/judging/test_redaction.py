"""What a model judge is not shown."""

import asyncio
from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.judging.judge import Judgement, judge_chains
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.shown_texts import ShownText
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets_tests.core.judging import test_selection as selection
from evaluation_assets_tests.model_judging import judge
from evaluation_assets_tests.model_server import ModelServer

SECRET = "ghp_" + "a1B2" * 9
MAIL = "anna@example.org"


def asked(server: ModelServer, tmp_path: Path, task: str, **panel: object) -> tuple[str, list[Judgement]]:
    """All that was sent about a trajectory with this task, and the verdicts."""
    own = panel.pop("own", {})
    assert isinstance(own, dict)
    data = {"judges": [judge(server, **own)], **panel}
    (made,) = judges_of(panel_of(data, "test"), f"sqlite:///{tmp_path / 'l.sqlite'}")

    async def run() -> list[Judgement]:
        async with made.opened("run", Budget()) as ready:
            return [each async for some in judge_chains(ready, [selection.clips(task)]) for each in some]

    judgements = asyncio.run(run())
    return "".join(orjson.dumps(request.body).decode() for request in server.requests()), judgements


def test_a_credential_does_not_leave_and_is_counted(server: ModelServer, tmp_path: Path) -> None:
    sent, judgements = asked(server, tmp_path, f"Use {SECRET}, I repeat {SECRET}. Write to {MAIL}.")
    assert SECRET not in sent and MAIL in sent
    assert "Use [REDACTED:credential:1], I repeat [REDACTED:credential:1]." in sent
    assert judgements[0].verdict.redacted == {"credential": 2}


def test_characters_that_are_not_seen_hide_no_credential(server: ModelServer, tmp_path: Path) -> None:
    sent, _ = asked(server, tmp_path, f"Use {SECRET[:9]}\u200b{SECRET[9:]}")
    assert SECRET not in sent and "[REDACTED:credential:1]" in sent


def test_personal_data_is_replaced_where_the_panel_says_so(server: ModelServer, tmp_path: Path) -> None:
    sent, _ = asked(server, tmp_path, f"Write to {MAIL}.", redaction={"email": True})
    assert MAIL not in sent and "[REDACTED:email:1]" in sent


def test_a_provider_may_be_exempt(server: ModelServer, tmp_path: Path) -> None:
    sent, judgements = asked(server, tmp_path, f"Use {SECRET}", redaction={"email": True}, own={"redaction": False})
    assert SECRET in sent and not judgements[0].verdict.redacted


@pytest.mark.slow
def test_a_text_that_cannot_be_searched_is_not_sent(server: ModelServer, tmp_path: Path) -> None:
    slow = {"patterns": {"slow": r"(?:a|aa)+$"}}
    sent, judgements = asked(server, tmp_path, "a" * 5_000 + "b", redaction=slow)
    assert not sent
    assert {(each.verdict.outcome, each.verdict.error_kind) for each in judgements} == {("failed", "redaction")}
    assert "the redaction pattern slow" in (judgements[0].verdict.error or "")


def test_what_is_replaced_is_part_of_the_version_where_it_is_not_the_usual(tmp_path: Path) -> None:
    def version(**fields: object) -> str:
        local = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": "http://localhost:1/v1"}
        (made,) = judges_of(panel_of({"judges": [local], **fields}, "test"), f"sqlite:///{tmp_path / 'l.sqlite'}")
        return made.version

    assert version() == version(redaction={"credentials": True})
    assert len({version(), version(redaction={"email": True}), version(redaction={"credentials": False})}) == 3


@pytest.mark.parametrize("chain", [selection.clips, selection.whole])
def test_without_a_credential_the_requests_are_byte_for_byte_what_they_were(chain: object) -> None:
    assert callable(chain)
    made = chain()
    assert isinstance(made, Chain)
    show = ShownText(made.subjects[0].trajectory, Redaction())
    assert selection.request_digests(made, show) == selection.request_digests(made)
