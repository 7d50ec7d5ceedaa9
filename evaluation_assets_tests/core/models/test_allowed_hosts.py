"""Where an installation names the hosts of models, no text goes to another one."""

import pytest
from pydantic import ValidationError

from evaluation_assets.core.judging.panel import JudgeSettings
from evaluation_assets.core.models.allowed_hosts import ALLOWED_MODEL_HOSTS, refusal_of
from evaluation_assets.core.sections.sessions.embedding_settings import EmbeddingSettings


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
