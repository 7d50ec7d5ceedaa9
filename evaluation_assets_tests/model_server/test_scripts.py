"""Rules, rates and the rate limit of a script."""

from typing import Any

import anthropic
import pytest

from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.model_server.calling import messages, statuses


def test_rules_apply_in_turn(server: ModelServer) -> None:
    server.script([rule("rate_limited", times=2, after=1), rule("overloaded", times=1), rule("unavailable", after=5)])
    assert statuses(server, *["a"] * 7) == [529, 429, 429, 200, 200, 200, 200]
    server.reset()
    assert statuses(server, *["a"] * 8) == [529, 429, 429, 200, 200, 200, 200, 200]
    assert statuses(server, "a") == [503]


def test_rules_match(server: ModelServer) -> None:
    said = 'He said:\n"Größe"'
    server.script(
        [
            rule("forbidden", path="/anthropic"),
            rule("overloaded", model="big"),
            rule("unavailable", contains=said),
            rule("server_error", contains="needle"),
        ]
    )
    assert statuses(server, "a", "a needle", f"<{said}>") == [200, 500, 503]
    assert statuses(server, "a needle", model="big") == [529]
    with pytest.raises(anthropic.PermissionDeniedError):
        messages(server)


def test_rates_are_drawn_alike_every_time(server: ModelServer) -> None:
    server.script([rule("overloaded", rate=0.3)])
    texts = [f"{number % 50}" for number in range(150)]
    first = statuses(server, *texts)
    server.reset()
    assert statuses(server, *texts) == first
    assert 25 <= first.count(529) <= 65
    assert first[:50] != first[50:100]
    server.script([rule("overloaded", rate=0), rule("unavailable", rate=1)])
    assert statuses(server, "a", "b") == [503, 503]


def test_the_rate_limit(server: ModelServer) -> None:
    server.script([{"rate_limit": {"requests_per_minute": 0.5, "burst": 3}}, rule("overloaded", times=1)])
    assert statuses(server, *"abcdef") == [529, 200, 200, 429, 429, 429]
    assert [asked.fault for asked in server.requests()][-1] == "rate_limit"
    with pytest.raises(anthropic.RateLimitError) as failed:
        messages(server)
    assert 0 < int(failed.value.response.headers["retry-after"]) <= 120
    assert 0 < int(failed.value.response.headers["retry-after-ms"]) <= 120_000
    server.script({"rate_limit": {"requests_per_minute": 6_000_000, "burst": 100}, "rules": [rule("slow", seconds=0)]})
    assert statuses(server, *["a"] * 20) == [200] * 20


@pytest.mark.parametrize(
    "script",
    [
        [{"fault": {"kind": "bad luck"}}],
        [{"fault": {"kind": "slow"}}],
        [{"fault": {"kind": "text"}}],
        [{"fault": {"kind": "drop", "wait": 1}}],
        [{"match": {"body": "x"}, "fault": {"kind": "drop"}}],
        [{"time": 1, "fault": {"kind": "drop"}}],
        [{"rates": {}}],
        [1],
    ],
)
def test_wrong_scripts_are_refused(server: ModelServer, script: Any) -> None:
    server.script([rule("overloaded")])
    with pytest.raises(ValueError, match=r"\w"):
        server.script(script)
    assert statuses(server, "a") == [529]
