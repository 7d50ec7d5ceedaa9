"""Questions that were paid for stay paid: their addresses and the bytes that are sent do not change."""

import asyncio
import hashlib

import pytest

from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.endpoints import EndpointSettings, endpoint_of
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Message, Request
from evaluation_assets.core.models.providers.base import Provider

REQUEST = Request(
    system="You evaluate.",
    turns=(Message("user", "piece"), Message("assistant", "{}"), Message("user", "next")),
    schema={"type": "object", "properties": {"scores": {"type": "array"}}},
    max_output_tokens=2000,
    cache_key="c",
    parameters={"temperature": 0},
)
ASKED = {
    "system": REQUEST.system,
    "turns": [[turn.role, turn.text] for turn in REQUEST.turns],
    "schema": REQUEST.schema,
    "sample": 0,
}

PAID = {
    "openai": (
        "646b1db0255e92e12e09612b5507273848bfd50a41a6eed24c34d4db9d7c1ed3",
        "67082871cf7cbf456d6cb71a3e0bda1ac45e3d97ff42d0415429a310d8d54844",
    ),
    "anthropic": (
        "84e3092b2218322ab450a888651514a8df1e0bddfda4d6bbd04fbac3d5a72dac",
        "2d45b77395390030d2dae843d5f0899571b22567e567510dcfdf675ca4380c9b",
    ),
    "google": (
        "9887d53d1cb3b6f08092c863e96999473d71c56492b3d0ea2a9e7c8eec06723b",
        "15fb04612435aa995074d5f5d80da4dbee5367c853802901f7c84b265db1dcb6",
    ),
    "deepseek": (
        "656ea335e04e4f7e5a56aa4450225381d025121164d2daa457a79b46357cbf5e",
        "de7d2159b4feff101bfb3e60463da6c53f419f9827d0e8b58b9cdfb7ba951975",
    ),
    "kimi": (
        "bca4b6bc04a72ed8b9d5b6423f5e8028f5f63f0e66e0a12e4a827f7c7302a5b3",
        "c966d196dbdc4508ecb518471a4e9632309aaf44ed9fb85382d8bd52a8fde87a",
    ),
    "openai_compatible": (
        "d2ca76a58c4398f35ec2af6c75cfb63e7d303238504c4a96a289beb52ed3ef65",
        "15fb04612435aa995074d5f5d80da4dbee5367c853802901f7c84b265db1dcb6",
    ),
    "anthropic_compatible": (
        "2d5e2550a562e809cc5253538d9d2fd8ff0ba8a442c513b44d489bcfbdd91182",
        "4ed3435e6bc0f1a918d767adb751da2d31ef060310980171b6f2ede03832f54a",
    ),
}
"""The address of the question and the SHA-256 of the body, as the first ledgers hold them."""


def opened(provider: str, **more: object) -> tuple[Client, Provider]:
    given: dict[str, object] = {"name": "one", "provider": provider, "model": "m", "parameters": {"temperature": 0}}
    if "compatible" in provider:
        given["base_url"] = "http://localhost:1/v1"
    settings, connected, pricing = endpoint_of(
        EndpointSettings.model_validate(given | {"api_key_env": "TEST_KEY"} | more)
    )
    endpoint = connected()
    return Client(settings, endpoint, Ledger("sqlite://"), pricing, "run", Budget()), endpoint


@pytest.mark.parametrize("provider", PAID)
def test_a_question_has_the_address_and_the_bytes_that_it_always_had(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")

    async def told() -> tuple[str, str]:
        client, endpoint = opened(provider)
        return client.key_of(ASKED, REQUEST), hashlib.sha256(dumped(endpoint.body(REQUEST))).hexdigest()

    assert asyncio.run(told()) == PAID[provider]


def test_what_is_sent_in_another_way_is_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    dialects = [
        Dialect(),
        Dialect(structured="json_object"),
        Dialect(structured="prompted"),
        Dialect(max_tokens_field="max_completion_tokens"),
        Dialect(system_role=False),
        Dialect(temperature=False),
    ]

    async def told() -> list[tuple[str, bytes]]:
        client, endpoint = opened("openai_compatible")
        return [(client.key_of(ASKED, REQUEST, each), dumped(endpoint.body(REQUEST, each))) for each in dialects]

    found = asyncio.run(told())
    assert len({key for key, _ in found}) == len({body for _, body in found}) == len(dialects)


@pytest.mark.parametrize(
    ("demanded", "dialect"),
    [
        ({"structured": "json_object"}, Dialect(structured="json_object")),
        ({"structured": "prompt"}, Dialect(structured="prompted")),
        ({"max_tokens_field": "max_completion_tokens"}, Dialect(max_tokens_field="max_completion_tokens")),
    ],
)
def test_what_the_settings_demand_and_what_was_found_out_is_the_same_question(
    monkeypatch: pytest.MonkeyPatch, demanded: dict[str, str], dialect: Dialect
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")

    async def told() -> set[str]:
        found_out, demanded_by = opened("openai_compatible"), opened("openai_compatible", **demanded)
        usual = found_out[0].key_of(ASKED, REQUEST)
        assert demanded_by[0].key_of(ASKED, REQUEST) != usual
        return {found_out[0].key_of(ASKED, REQUEST, dialect), demanded_by[0].key_of(ASKED, REQUEST)}

    assert len(asyncio.run(told())) == 1
