"""What a run leaves behind when its providers fail: no key in any file, nor on the terminal, in any encoding."""

import base64
import gzip
import json
import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from upath import UPath

from evaluation_assets.core.judging.panel import InvalidPanel, load_panel
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.model_judging import drop_of
from evaluation_assets_tests.model_server import ModelServer, rule

pytestmark = pytest.mark.slow

KEYS = {
    "KEY_OF_ECHO": "sk-echo-7Kq2x9Lm4Tn8Rw1Zb6",
    "KEY_OF_BROKEN": "sk-ant-broken-3Hd8v5Gs0Yf2Pj7Qc",
    "KEY_OF_SLOW": "xai-slow-9Bn4k1Xz6Wm3Ta8Vr5",
    "KEY_IN_URL": "pw-url-5Lc8j2Ue7Oi1Sx4Dg9",
    "KEY_OF_EMBEDDINGS": "sk-emb-1Qa7z3Ws9Xe5Dc2Rf6",
    "KEY_OF_DECISIONS": "sk-dec-6Tb1y8Kn3Vc7Hm4Wq2",
    "KEY_OF_SYSTEM_ONE": "ts-sys-8Rj5p2Fd9Zg3Nu6Lx1",
}
KIND = "openai_compatible"


def encodings(key: str) -> Iterator[bytes]:
    """How a key may stand in a file: as it is, and wherever in a longer text base64 begins."""
    yield key.encode()
    yield key.encode().hex().encode()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + key.encode())
        yield encoded[(offset * 8 + 5) // 6 : (offset + len(key)) * 8 // 6]


def contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is compressed in it: columns of Parquet, values of SQLite, data of the viewer."""
    content = path.read_bytes()
    yield content
    if path.suffix == ".parquet":
        parquet = pq.ParquetFile(path)
        yield json.dumps(parquet.read().to_pylist(), default=str).encode()
        yield b" ".join(value for pair in (parquet.metadata.metadata or {}).items() for value in pair)
    elif content.startswith(b"SQLite format 3"):
        with closing(sqlite3.connect(path)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    yield from (each for value in row for each in _unpacked(value))
    elif path.suffix == ".html":
        for packed in re.findall(rb'<script type="text/plain" id="viewer-[^"]*">([^<]*)</script>', content):
            yield gzip.decompress(base64.b64decode(packed))


def _unpacked(value: Any) -> Iterator[bytes]:
    if isinstance(value, str):
        yield value.encode()
    elif isinstance(value, bytes):
        yield value
        try:
            yield zlib.decompress(value, wbits=47)
        except zlib.error:
            return


def places_of_keys(folder: Path, said: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each place where a key is, with the variable that holds it."""
    forms = {name: list(encodings(key)) for name, key in KEYS.items()}
    found = [
        (str(path.relative_to(folder)), content)
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("panel.yaml", "agent.yaml")
        for content in contents(path)
    ]
    found += [(name, text.encode()) for name, text in said.items()]
    return [(where, name) for where, content in found for name, own in forms.items() if any(f in content for f in own)]


def test_the_search_finds_what_it_is_for(tmp_path: Path) -> None:
    key = KEYS["KEY_OF_ECHO"]
    (tmp_path / "a.log").write_text(f"Authorization: {base64.b64encode(f'user:{key}'.encode()).decode()}")
    with closing(sqlite3.connect(tmp_path / "b.db")) as connection:
        connection.execute("CREATE TABLE replies (body BLOB)")
        connection.execute("INSERT INTO replies VALUES (?)", [zlib.compress(key.encode())])
        connection.commit()
    assert sorted(places_of_keys(tmp_path, {"stdout": "KEY_OF_ECHO"})) == [
        ("a.log", "KEY_OF_ECHO"),
        ("b.db", "KEY_OF_ECHO"),
    ]


def test_failing_providers_leave_no_key_behind(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    home = tmp_path / "home"
    home.mkdir()
    said = f"Incorrect API key provided: {KEYS['KEY_OF_ECHO']}. Header was Bearer {KEYS['KEY_OF_ECHO']}"
    server.script(
        [
            rule("wrong_key", model="echo", message=said),
            rule("server_error", model="broken", message=f"x-api-key={KEYS['KEY_OF_BROKEN']} caused a crash"),
            rule("slow", model="slow", seconds=5),
            rule("wrong_key", model="emb", message=f"no: {KEYS['KEY_OF_EMBEDDINGS']}"),
            rule("wrong_key", model="luna", message=f"no: Bearer {KEYS['KEY_OF_DECISIONS']}"),
            rule("server_error", model="jev", message=f"authorization={KEYS['KEY_OF_SYSTEM_ONE']} caused a crash"),
        ]
    )
    impatient = {"timeouts": {"first_backoff_s": 0.01, "request_s": 0.5, "question_s": 1, "outage_s": 0.5}}
    in_url = KEYS["KEY_IN_URL"]
    panel = {
        "judges": [
            {
                "name": "echo",
                "provider": KIND,
                "model": "echo",
                "base_url": server.openai_url,
                "api_key_env": "KEY_OF_ECHO",
            },
            {
                "name": "broken",
                "provider": "anthropic_compatible",
                "model": "broken",
                "base_url": server.anthropic_url,
                "api_key_env": "KEY_OF_BROKEN",
            },
            {
                "name": "slow",
                "provider": KIND,
                "model": "slow",
                "base_url": server.openai_url,
                "api_key_env": "KEY_OF_SLOW",
            },
            {"name": "gone", "provider": KIND, "model": "m", "base_url": f"http://user:{in_url}@127.0.0.1:9/v1"},
            {"name": "asked", "provider": KIND, "model": "m", "base_url": f"http://127.0.0.1:9/v1?api_key={in_url}"},
            {
                "name": "luna",
                "provider": "openai_decisions",
                "model": "luna",
                "base_url": server.openai_url,
                "api_key_env": "KEY_OF_DECISIONS",
            },
            {
                "name": "jev",
                "provider": "typesafe",
                "model": "jev",
                "base_url": server.openai_url,
                "api_key_env": "KEY_OF_SYSTEM_ONE",
            },
            {"name": "rules", "provider": "rules"},
        ],
        "embeddings": {"model": "emb", "base_url": server.openai_url, "api_key_env": "KEY_OF_EMBEDDINGS"},
    }
    for judge in panel["judges"][:-1]:
        if judge["name"] not in ("echo", "luna"):  # on a busy machine a refusal may take longer
            judge |= impatient
    (home / "panel.yaml").write_text(json.dumps(panel))
    (tmp_path / "d.jsonl").write_bytes(drop_of(3))
    (tmp_path / "s.json").write_bytes((Path(__file__).parents[1] / "examples/sessions/teams.json").read_bytes())
    agent = {"name": "solver", "provider": KIND, "model": "echo", "base_url": server.openai_url}
    (tmp_path / "agent.yaml").write_text(json.dumps(agent | {"api_key_env": "KEY_OF_ECHO"}))
    case = {"id": "one", "message": "How much is six times seven?", "answer": "42"}
    (tmp_path / "suite.yaml").write_text(json.dumps({"name": "sums", "cases": [case]}))
    told: dict[str, str] = {}
    for arguments in (
        ("suite", "run", tmp_path / "suite.yaml", "--agent", tmp_path / "agent.yaml"),
        ("evaluate", tmp_path / "d.jsonl"),
        ("evaluate", tmp_path / "s.json"),
        ("panel", "list"),
        ("panel", "test"),
        ("plan", tmp_path / "d.jsonl"),
    ):
        done = command(*arguments, home=home)
        told[" ".join(map(str, arguments))] = done.stdout + done.stderr
    assert places_of_keys(tmp_path, told) == []
    refused = "the key was refused (401)"
    assert [arguments.split()[0] for arguments, said in told.items() if refused in said] == [
        *("suite", "evaluate", "evaluate", "panel")
    ]
    for variable in ("KEY_OF_ECHO", "KEY_OF_DECISIONS"):
        named = [arguments.split()[0] for arguments, said in told.items() if f"{refused}: check {variable}" in said]
        assert named == ["evaluate", "evaluate", "panel"]


@pytest.mark.parametrize("address", ["http://user:{}@[broken/v1", "http://user:{}@127.0.0.1:none/v1", "user:{}", "{}"])
@pytest.mark.parametrize("place", ["judge", "embeddings"])
def test_an_address_that_cannot_be_read_is_refused_and_not_repeated(tmp_path: Path, address: str, place: str) -> None:
    key = KEYS["KEY_IN_URL"]
    judge = {"name": "one", "provider": KIND, "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    panel: dict[str, Any] = {"judges": [judge]}
    if place == "judge":
        judge["base_url"] = address.format(key)
    else:
        panel["embeddings"] = {"model": "m", "base_url": address.format(key)}
    (tmp_path / "panel.yaml").write_text(json.dumps(panel))
    with pytest.raises(
        InvalidPanel, match=r"base_url: not an HTTP address; write one such as http://localhost:8000/v1"
    ) as refused:
        load_panel(UPath(tmp_path / "panel.yaml"))
    assert key not in str(refused.value)
