"""What is in ledgers and lakes stays valid: versions of judges, and what their questions are known by."""

import asyncio
import hashlib
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.questions import Cost, PendingVerdict
from evaluation_assets.core.models.ledger import Ledger, question_key
from evaluation_assets.core.models.messages import DecisionQuestion, Message, Request
from evaluation_assets.core.models.timeouts import Deadline
from evaluation_assets_tests.judging_alone import chains, verdicts
from evaluation_assets_tests.model_server import ModelServer

RECORDED = {
    "openai": ["f8bc2f5a2b459f56", "fadb385b2d0018b4", "e28e43f1bff593ba"],
    "anthropic": ["32c924a34caaaf62", "c2de2cacc5459fc2", "6704cfdfbbce32b5"],
    "probability": ["5ca60f3d67ae4ce2", "f4123da328b3d3e7", "dc08f4b66275e529"],
}
"""By settings, recorded before there were decision models: beginnings of the judge's version, and of the digests of
what was sent."""

SETTINGS: dict[str, dict[str, Any]] = {
    "openai": {"provider": "openai_compatible"},
    "anthropic": {"provider": "anthropic_compatible"},
    "probability": {"provider": "openai_compatible", "probability": True, "parameters": {"temperature": 0}},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_judges_that_write_have_the_versions_and_requests_that_they_had(
    url: str, models: ModelServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    ledger = Ledger(url)
    with ledger.transaction() as connection:
        connection.execute(sa.text("INSERT INTO settings (name, value) VALUES ('secret', 'recorded')"))
    ledger.close()
    path = {"anthropic": models.anthropic_url}.get(name, models.openai_url)
    own = {"name": "one", "model": "m", "base_url": "http://localhost:1/v1", "api_key_env": "TEST_KEY"}
    (described,) = judges_of(panel_of({"judges": [own | SETTINGS[name]]}, "test"), url)
    own["base_url"] = path
    (judge,) = judges_of(panel_of({"judges": [own | SETTINGS[name]]}, "test"), url)
    assert isinstance(judge, ModelJudge)
    asyncio.run(verdicts(judge, chains(1)))
    bodies = [hashlib.sha256(f"{asked.body}".encode()).hexdigest() for asked in models.requests()]
    assert [each[:16] for each in (described.version, *bodies)] == RECORDED[name]


async def _pending() -> PendingVerdict:
    return PendingVerdict(
        level="clip", sample=1, read=_unused, corrected=_unused, left=0, deadline=Deadline(1), cost=Cost()
    )


def _unused(*_: object) -> Any:
    raise NotImplementedError


def test_only_questions_to_decision_models_add_to_what_the_ledger_knows_a_question_by() -> None:
    request = Request(
        system="rules", turns=(Message("user", "text"),), schema={"type": "object"}, max_output_tokens=9, cache_key="c"
    )
    pending = asyncio.run(_pending())
    known = {"system": "rules", "turns": [["user", "text"]], "schema": {"type": "object"}, "sample": 1}
    assert pending.asked(request) == known
    question = DecisionQuestion(name="q", kind="yes_no", instructions="?", options=(("0", "no"), ("1", "yes")))
    other = replace(question, options=(("0", "never"), ("1", "yes")))
    asked = [pending.asked(replace(request, questions=(each,))) for each in (question, other)]
    assert len({question_key(each) for each in (known, *asked)}) == 3
