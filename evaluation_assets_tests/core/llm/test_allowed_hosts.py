"""Where an installation names the hosts of models, no text goes to another one."""

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from evaluation_assets.core.judging.panel import JudgeSettings
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.llm.allowed_hosts import ALLOWED_MODEL_HOSTS, refusal_of
from evaluation_assets.core.llm.budget import Budget
from evaluation_assets.core.llm.embeddings import EndpointVectors, NoVectors
from evaluation_assets.core.llm.ledger import Ledger
from evaluation_assets.core.llm.prices import PublicPrice
from evaluation_assets.core.sessions.embedding_settings import EmbeddingSettings
from evaluation_assets_tests.judging_alone import Answer, Endpoint, chains, endpoint, judge_at, verdicts


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("api.anthropic.com", "https://api.anthropic.com"),
        ("api.openai.com, api.anthropic.com", "https://API.Anthropic.com./v1"),
        ("*.Models.example", "http://one.models.example:8000/v1"),
        ("::1", "http://[::1]:8000/v1"),
        ("", "https://anywhere.example"),
        (" , ", "https://anywhere.example"),
    ],
)
def test_a_host_that_is_named_is_allowed(monkeypatch: pytest.MonkeyPatch, allowed: str, url: str) -> None:
    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, allowed)
    assert refusal_of(url) is None


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("api.anthropic.com", "https://api.openai.com/v1"),
        ("api.anthropic.com", "https://api.anthropic.com.attacker.example"),
        ("api.anthropic.com", "https://attacker.example/api.anthropic.com"),
        ("api.anthropic.com", "https://api.anthropic.com@attacker.example"),
        ("*.models.example", "http://models.example.attacker.example"),
        ("*.models.example", "http://models.example"),
    ],
)
def test_any_other_host_is_refused(monkeypatch: pytest.MonkeyPatch, allowed: str, url: str) -> None:
    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, allowed)
    assert ALLOWED_MODEL_HOSTS in (refusal_of(url) or "")


def test_a_panel_with_another_host_is_refused_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, "api.anthropic.com")
    JudgeSettings(name="one", provider="anthropic")
    with pytest.raises(ValidationError, match=r"models may not be called at api\.openai\.com"):
        JudgeSettings(name="one", provider="openai")
    with pytest.raises(ValidationError, match=r"models may not be called at evil\.example"):
        JudgeSettings(name="one", provider="anthropic", base_url="https://evil.example")
    with pytest.raises(ValidationError, match=r"models may not be called at api\.openai\.com"):
        EmbeddingSettings(model="text-embedding-3-small")


def test_on_vertex_the_location_decides_about_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, "aiplatform.eu.rep.googleapis.com")
    for model in ("google/gemini-3.8-flash", "claude-opus-5"):
        JudgeSettings(name="one", provider="vertex", model=model, project="p", location="eu")
        with pytest.raises(ValidationError, match=r"called at aiplatform\.googleapis\.com"):
            JudgeSettings(name="one", provider="vertex", model=model, project="p", location="global")


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic_compatible"])
def test_text_follows_a_redirection_only_to_an_allowed_host(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def judged(ledger: str) -> tuple[list[Verdict], list[bytes]]:
        async with endpoint(_anything) as elsewhere, endpoint(_redirection_to(elsewhere)) as asked:
            judge = judge_at(asked.url, f"sqlite:///{tmp_path}/{ledger}.sqlite", provider=provider)
            return await verdicts(judge, chains(1)), elsewhere.bodies

    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, "127.0.0.1")
    given, sent = asyncio.run(judged("one"))
    assert given[0].outcome in ("failed", "not_run")
    assert "models may not be called at localhost" in (given[0].error or "")
    assert sent == []
    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, "127.0.0.1,localhost")
    given, sent = asyncio.run(judged("two"))
    assert sent


def test_no_text_for_embeddings_follows_a_redirection_to_another_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOWED_MODEL_HOSTS, "127.0.0.1")

    async def embedded() -> None:
        async with endpoint(_anything) as elsewhere, endpoint(_redirection_to(elsewhere)) as asked:
            vectors = EndpointVectors(
                model="m",
                base_url=asked.url,
                key_variable=None,
                ledger=Ledger(f"sqlite:///{tmp_path}/ledger.sqlite"),
                pricing=PublicPrice(None, "m"),
                run="run",
                budget=Budget(),
            )
            with pytest.raises(NoVectors, match="models may not be called at localhost"):
                await asyncio.to_thread(vectors.of, ["private"])
            assert asked.bodies
            assert elsewhere.bodies == []

    asyncio.run(embedded())


async def _anything(_at: Endpoint, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")


def _redirection_to(elsewhere: Endpoint) -> Answer:
    async def redirected(_at: Endpoint, writer: asyncio.StreamWriter) -> None:
        there = elsewhere.url.replace("127.0.0.1", "localhost")
        writer.write(f"HTTP/1.1 307 Temporary Redirect\r\nlocation: {there}\r\ncontent-length: 0\r\n\r\n".encode())

    return redirected
