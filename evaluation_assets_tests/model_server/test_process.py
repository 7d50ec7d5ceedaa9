"""The log, the process and its command line."""

import asyncio
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import anthropic
import openai
import orjson
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from evaluation_assets_tests.model_server import ModelServer, model_server, rule
from evaluation_assets_tests.model_server.calling import chat, messages, statuses


def test_the_log(server: ModelServer) -> None:
    server.script([rule("overloaded", times=1)])
    with pytest.raises(openai.InternalServerError):
        chat(server, "one")
    messages(server, "two")
    first, second = server.requests()
    assert (first.number, first.path, first.status, first.fault) == (1, "/v1/chat/completions", 529, "overloaded")
    assert (second.number, second.path, second.status, second.fault) == (2, "/anthropic/v1/messages", 200, None)
    assert first.body["messages"][1]["content"] == "one"
    assert second.body["messages"][0]["content"][0]["text"] == "two"
    assert first.answered is not None
    assert first.arrived <= first.answered <= second.arrived
    assert len(first.sha256) == 64
    assert [asked.body for asked in server.requests(bodies=False)] == [None, None]
    server.reset()
    assert server.requests() == []


def test_many_at_once(server: ModelServer) -> None:
    async def calls() -> list[ChatCompletion]:
        async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
            return await asyncio.gather(
                *(
                    client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": f"{number}"}])
                    for number in range(200)
                )
            )

    assert len({completion.id for completion in asyncio.run(calls())}) == 200
    asked = server.requests()
    assert {one.status for one in asked} == {200}
    assert sorted(one.body["messages"][0]["content"] for one in asked) == sorted(map(str, range(200)))


def test_stop_kill_and_start_at_the_same_port() -> None:
    with model_server([rule("overloaded", times=1)], keep_bodies=False) as server:
        assert statuses(server, "a", "a") == [529, 200]
        assert server.requests()[0].body is None
        assert server.requests()[0].sha256 == server.requests()[1].sha256
        server.kill()
        assert server.process.exitcode is not None
        with pytest.raises(openai.APIConnectionError):
            chat(server)
    with model_server(port=server.port) as again:
        assert again.url == server.url
        assert statuses(again, "a") == [200]
        again.stop()
        with pytest.raises(anthropic.APIConnectionError):
            messages(again)


def test_killed_under_a_call() -> None:
    with model_server([rule("slow", seconds=60)]) as server:

        async def call() -> None:
            async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
                asked = asyncio.ensure_future(
                    client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "a"}])
                )
                while not await asyncio.to_thread(server.requests):
                    await asyncio.sleep(0.01)
                server.kill()
                await asked

        with pytest.raises(openai.APIConnectionError):
            asyncio.run(call())


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(orjson.dumps([rule("text", text="from a file")]))
    command = [sys.executable, "-m", "evaluation_assets_tests.model_server", "--script", str(path), "--latency", "0.01"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [*command, "--with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().strip()

        async def call() -> ChatCompletion:
            async with AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as client:
                return await client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "a"}])

        assert asyncio.run(call()).choices[0].message.content == "from a file"
        process.stdin.close()
        assert process.wait(timeout=10) == 0
    path.write_text('[{"fault": {"kind": "bad luck"}}]')
    wrong = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert wrong.returncode != 0
    assert "bad luck" in wrong.stderr


def test_hashes_are_those_of_the_bodies(server: ModelServer) -> None:
    chat(server)
    asked = server.requests()[0]
    compact = json.dumps(asked.body, separators=(",", ":"), ensure_ascii=False).encode()
    assert asked.sha256 == hashlib.sha256(compact).hexdigest()


def test_a_spread_of_latencies_is_drawn_from_the_bodies() -> None:
    waits = []
    for _ in range(2):
        with model_server(latency=0.01, spread=0.5) as server:
            for text in ("one", "two", "three"):
                chat(server, text)
            waits.append([asked.waited for asked in server.requests()])
    assert waits[0] == waits[1]
    assert len(set(waits[0])) == 3
    assert all(0.001 < seconds < 0.1 for seconds in waits[0])
