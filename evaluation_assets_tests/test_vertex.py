"""Judges on Google Cloud: the real SDKs and google-auth, against a local model server and a local token endpoint."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import dagster as dg
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from evaluation_assets.core.judging.panel import InvalidPanel, judges_of, panel_of
from evaluation_assets_tests.http_server import Reply, Request, http_server
from evaluation_assets_tests.model_judging import drop_of, installed
from evaluation_assets_tests.model_server import ModelServer, model_server

TOKEN = "ya29.secret-token-for-tests"


class TokenEndpoint(BaseHTTPRequestHandler):
    """Gives every service account the same token."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        content = json.dumps({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.server.given.append(TOKEN)  # type: ignore[attr-defined]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def tokens_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A service account in the environment; the list grows with every token that is fetched."""
    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), TokenEndpoint)
    endpoint.given = []  # type: ignore[attr-defined]
    Thread(target=endpoint.serve_forever, daemon=True).start()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "1",
        "private_key": key.decode(),
        "client_email": "judge@p.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": f"http://127.0.0.1:{endpoint.server_port}/token",
    }
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    yield endpoint.given  # type: ignore[attr-defined]
    endpoint.shutdown()
    endpoint.server_close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server([{"keys": [TOKEN]}]) as started:
        yield started


def judge(model: str, base_url: str) -> dict[str, object]:
    return {
        "name": "one",
        "provider": "vertex",
        "model": model,
        "base_url": base_url,
        "project": "p",
        "location": "europe-west4",
    }


@pytest.mark.parametrize(
    ("model", "protocol", "path"),
    [
        ("google/gemini-3.8-flash", "openai", "/v1/chat/completions"),
        (
            "claude-haiku-4-5@20251001",
            "anthropic",
            "/vertex/v1/projects/p/locations/europe-west4/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict",
        ),
    ],
)
def test_models_on_vertex_judge_with_one_token_and_a_public_price(
    tmp_path: Path, server: ModelServer, tokens_given: list[str], model: str, protocol: str, path: str
) -> None:
    url = server.openai_url if protocol == "openai" else server.vertex_url
    with dg.DagsterInstance.ephemeral() as instance:
        judged = installed(tmp_path / "home", instance, judge(model, url))
        judged.drop("d", drop_of(3))
        assert judged.run("d").success
    assert {request.path for request in server.requests()} == {path}
    rows = judged.verdicts()
    assert {row["outcome"] for row in rows} <= {"scored", "abstained"}
    assert all(row["cost_usd"] > 0 for row in rows)
    assert len(tokens_given) <= 3, "one token a level, not one a request"
    assert TOKEN not in json.dumps([judged.verdicts(level) for level in ("clip", "category", "trajectory")])


@pytest.mark.parametrize(
    "path",
    [
        "/v1/projects/p/locations/europe-west4/endpoints/5464397967697903616",
        "/v1beta1/projects/777/locations/europe-west4/endpoints/mg-endpoint-1a2b",
    ],
)
def test_deployed_models_of_model_garden_are_asked_at_their_endpoint(
    tmp_path: Path, tokens_given: list[str], path: str
) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        schema = request.body["response_format"]["json_schema"]["schema"]
        entry = schema["properties"]["scores"]["items"]["properties"]
        scores = [{"criterion": key, "score": entry["score"]["enum"][0]} for key in entry["criterion"]["enum"]]
        said = json.dumps({"reasoning": "r", "scores": scores, "summary": "s"})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    with http_server(answer) as url, dg.DagsterInstance.ephemeral() as instance:
        deployed = judge("meta/llama-3.3-70b", url + path) | {"price": {"input": 0, "output": 0}}
        judged = installed(tmp_path / "home", instance, deployed | {"max_input_tokens": 8000})
        judged.drop("d", drop_of(1))
        assert judged.run("d").success
    assert {row["outcome"] for row in judged.verdicts()} == {"scored"}
    assert {request.path for request in asked} == {f"{path}/chat/completions"}
    assert {request.headers["authorization"] for request in asked} == {f"Bearer {TOKEN}"}


def test_without_credentials_every_verdict_says_what_to_do(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    with dg.DagsterInstance.ephemeral() as instance:
        judged = installed(tmp_path / "home", instance, judge("google/gemini-3.8-flash", server.openai_url))
        judged.drop("d", drop_of(1))
        judged.run("d")
    assert {(row["outcome"], row["error_kind"]) for row in judged.verdicts()} == {("not_run", "auth")}
    assert all("GOOGLE_APPLICATION_CREDENTIALS" in row["error"] for row in judged.verdicts())


@pytest.mark.parametrize("model", ["google/gemini-3.8-flash", "claude-m"])
def test_a_token_endpoint_that_refuses_is_a_reason_and_no_crash(
    tmp_path: Path, server: ModelServer, tokens_given: list[str], model: str
) -> None:
    account = json.loads((tmp_path / "account.json").read_text()) | {"token_uri": f"{server.url}/no-token"}
    (tmp_path / "account.json").write_text(json.dumps(account))
    with dg.DagsterInstance.ephemeral() as instance:
        judged = installed(tmp_path / "home", instance, judge(model, server.openai_url))
        judged.drop("d", drop_of(1))
        judged.run("d")
    outcomes = {(row["outcome"], row["error_kind"]) for row in judged.verdicts()}
    assert outcomes <= {("failed", "auth"), ("not_run", "auth")}
    assert all("no access token" in row["error"] for row in judged.verdicts())


@pytest.mark.parametrize(
    ("model", "location", "address"),
    [
        ("google/m", "global", "https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi"),
        ("google/m", "us-east5", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/"),
        ("claude-m", "eu", "https://aiplatform.eu.rep.googleapis.com/v1 p eu"),
    ],
)
def test_the_address_follows_from_project_and_location(model: str, location: str, address: str) -> None:
    one = {"name": "one", "provider": "vertex", "model": model, "project": "p", "location": location}
    (made,) = judges_of(panel_of({"judges": [one]}, "test"), "sqlite://")
    assert made.settings.endpoint.startswith(address)  # type: ignore[attr-defined]


def test_a_judge_on_vertex_needs_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    with pytest.raises(InvalidPanel, match="GOOGLE_CLOUD_PROJECT"):
        panel_of({"judges": [{"name": "one", "provider": "vertex", "model": "google/m"}]}, "test")
