"""No client of ours follows a redirect to another server: what it sends, and its keys, stay where they were sent."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from evaluation_assets.core.intake.sources.opening import open_store
from evaluation_assets.core.intake.sources.settings import (
    LangfuseSettings,
    LangsmithSettings,
    MlflowSettings,
    PhoenixSettings,
    SourceSettings,
)
from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.embeddings import EndpointVectors, NoVectors
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.suites.agents.mcp_tools import McpServer, connected
from evaluation_assets.core.suites.agents.tools import InvalidTool
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.one_origin import OtherOrigin, only_to, origin_of
from evaluation_assets.core.traces.prices import PublicPrice
from evaluation_assets_tests.core.report.sinks.making import QUICK
from evaluation_assets_tests.http_server import Reply, Request, http_server
from evaluation_assets_tests.judging_alone import chains, judge_at, verdicts

SECRET = "secret-key-0123456789"


@dataclass
class Servers:
    """Two servers: all requests to `url` are redirected to the other, which keeps what it is asked."""

    url: str
    other: str
    asked: list[Request] = field(default_factory=list)
    got: list[Request] = field(default_factory=list)

    def check(self, said: str) -> None:
        """The other got nothing, and the error says what happened, without credentials."""
        assert self.asked, "the first server was asked"
        assert self.got == []
        assert f"redirects to {self.other}" in said
        assert "user" not in said and "password" not in said and SECRET not in said


@contextmanager
def redirecting(status: int = 307) -> Iterator[Servers]:
    servers = Servers("", "")

    def redirect(request: Request) -> Reply:
        servers.asked.append(request)
        there = f"http://user:password@{urlsplit(servers.other).netloc}{request.target}"
        return Reply(status, headers={"Location": there}, text="")

    def keep(request: Request) -> Reply:
        servers.got.append(request)
        return Reply(500)

    with http_server(redirect) as servers.url, http_server(keep) as servers.other:
        yield servers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("mode", ["interactive", "batch"])
@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic_compatible"])
def test_judges(provider: str, mode: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    with redirecting(status) as servers:
        url = servers.url + ("/v1" if provider.startswith("openai") else "")
        judge = judge_at(
            url, f"sqlite:///{tmp_path}/ledger.sqlite", provider=provider, mode=mode, api_key_env="TEST_KEY"
        )
        given = asyncio.run(verdicts(judge, chains(1)))
        assert {verdict.outcome for verdict in given} <= {"failed", "not_run"}
        servers.check(given[0].error or "")


@pytest.mark.parametrize("provider", ["openai_decisions", "systemone"])
def test_decision_models(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    with redirecting() as servers:
        own = {"name": "one", "provider": provider, "model": "m", "base_url": f"{servers.url}/v1"}
        panel = panel_of({"judges": [own | {"api_key_env": "TEST_KEY"}]}, "test")
        (judge,) = judges_of(panel, f"sqlite:///{tmp_path}/ledger.sqlite")
        assert isinstance(judge, ModelJudge)
        given = asyncio.run(verdicts(judge, chains(1)))
        assert {verdict.outcome for verdict in given} <= {"failed", "not_run"}
        servers.check(given[0].error or "")


def test_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    with redirecting() as servers:
        vectors = EndpointVectors(
            model="m",
            base_url=f"{servers.url}/v1",
            key_variable="TEST_KEY",
            ledger=Ledger(f"sqlite:///{tmp_path}/ledger.sqlite"),
            pricing=PublicPrice(None, "m"),
            run="run",
            budget=Budget(),
        )
        with pytest.raises(NoVectors) as problem:
            vectors.of(["private"])
        servers.check(str(problem.value))


STORES = pytest.mark.parametrize(
    "settings",
    [
        lambda url: LangfuseSettings(type="langfuse", url=url, public_key_env="TEST_KEY", secret_key_env="TEST_KEY"),
        lambda url: LangsmithSettings(type="langsmith", url=url, api_key_env="TEST_KEY", project="p"),
        lambda url: PhoenixSettings(type="phoenix", url=url, project="p", api_key_env="TEST_KEY"),
    ],
    ids=["langfuse", "langsmith", "phoenix"],
)


@pytest.mark.parametrize("status", [302, 307])
@STORES
def test_sources(
    settings: Callable[[str], SourceSettings], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    with redirecting(status) as servers, pytest.raises(StoreError) as problem:
        fetched(settings(servers.url), tmp_path)
    servers.check(str(problem.value))


def fetched(settings: SourceSettings, home: Path) -> list[Any]:
    store = open_store(settings, Installation.at(str(home)))
    return list(store.ended(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC), bool))


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client does not say where it was to go."""
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
    monkeypatch.delenv("MLFLOW_ALLOW_HTTP_REDIRECTS", raising=False)
    with redirecting() as servers, pytest.raises(StoreError, match="307"):
        fetched(MlflowSettings(type="mlflow", tracking_uri=servers.url), tmp_path)
    assert servers.asked
    assert servers.got == []


def test_sinks() -> None:
    with redirecting() as servers, Http(servers.url, {"x-key": SECRET}, secrets=[SECRET], patience=QUICK) as http:
        with pytest.raises(SendError) as problem:
            http.post("/scores", {"private": 1})
        servers.check(str(problem.value))


@pytest.mark.parametrize("transport", ["streamable_http", "sse"])
def test_mcp_servers(transport: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)

    async def listed(url: str) -> None:
        server = McpServer(name="tests", url=url, transport=transport, headers_from={"x-key": "TEST_KEY"})
        async with connected([server], 30):
            pass

    with redirecting() as servers:
        with pytest.raises(InvalidTool) as problem:
            asyncio.run(listed(f"{servers.url}/mcp"))
        assert servers.asked
        assert servers.got == []
        assert SECRET not in str(problem.value)


def test_a_redirect_within_a_server_is_followed(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        if request.path.startswith("/old"):
            return Reply(307, headers={"Location": f"/new{request.path[4:]}"}, text="")
        return Reply(401 if request.path == "/new/v1/chat/completions" else 500, {"error": {"message": "arrived"}})

    with http_server(answer) as url:
        judge = judge_at(f"{url}/old/v1", f"sqlite:///{tmp_path}/ledger.sqlite", provider="openai_compatible")
        given = asyncio.run(verdicts(judge, chains(1)))
    assert "arrived" in (given[0].error or "")


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic_compatible"])
def test_a_judge_at_an_endpoint_that_redirects_to_itself_stops_after_a_handful_of_requests(
    provider: str, tmp_path: Path
) -> None:
    asked: list[Request] = []
    with http_server(to_itself(asked)) as url:
        address = url + ("/v1" if provider.startswith("openai") else "")
        judge = judge_at(address, f"sqlite:///{tmp_path}/ledger.sqlite", provider=provider)
        given = asyncio.run(verdicts(judge, chains(3)))
    assert given[0].outcome == "failed"
    assert "redirects more than" in (given[0].error or "") and "base_url" in (given[0].error or "")
    assert {(verdict.outcome, verdict.error_kind) for verdict in given} <= {
        ("failed", "not_found"),
        ("not_run", "not_found"),
    }
    assert len(asked) < 10


def test_embeddings_of_an_endpoint_that_redirects_to_itself_are_asked_for_a_handful_of_times(tmp_path: Path) -> None:
    asked: list[Request] = []
    with http_server(to_itself(asked)) as url:
        vectors = EndpointVectors(
            model="m",
            base_url=f"{url}/v1",
            key_variable=None,
            ledger=Ledger(f"sqlite:///{tmp_path}/ledger.sqlite"),
            pricing=PublicPrice(None, "m"),
            run="run",
            budget=Budget(),
        )
        for _ in range(2):
            with pytest.raises(NoVectors, match="redirects more than"):
                vectors.of(["private"])
    assert len(asked) < 10


@STORES
def test_a_source_that_redirects_to_itself_is_asked_for_a_handful_of_times(
    settings: Callable[[str], SourceSettings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    asked: list[Request] = []
    with http_server(to_itself(asked)) as url, pytest.raises(StoreError):
        fetched(settings(url), tmp_path)
    assert max(Counter(request.target for request in asked).values()) <= 16, "four tries of four requests"


def to_itself(asked: list[Request]) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        asked.append(request)
        return Reply(307, headers={"Location": request.target}, text="")

    return answer


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://user:password@API.example.com.:443/v1?key=1", "https://api.example.com"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
        ("http://a.example:80", "http://a.example"),
        ("https://a.example:80", "https://a.example:80"),
    ],
)
def test_an_origin_is_shown_without_credentials(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "other", ["http://a.example/v1", "https://a.example:8443/", "https://b.a.example/", "https://a.example@b.example/"]
)
def test_another_scheme_port_or_host_is_another_origin(other: str) -> None:
    request = Request("GET", "", {}, {}, None)
    object.__setattr__(request, "url", other)
    with pytest.raises(OtherOrigin):
        only_to("https://a.example/v1")(request)
