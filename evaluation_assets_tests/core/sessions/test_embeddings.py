"""Likeness by embeddings, from a server that speaks OpenAI's protocol."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from evaluation_assets.core.judging.embeddings import EmbeddingSettings, EmbeddingSimilarity, similarity_of
from evaluation_assets.core.judging.panel import InvalidPanel, panel_of
from evaluation_assets.core.sessions.reactions import reaction
from evaluation_assets.core.sessions.similarity import LexicalSimilarity, SimilarityUnavailable

MEANINGS = {"train": [1.0, 0.0], "railway": [0.9, 0.1], "cake": [0.0, 1.0]}


class _Embeddings(BaseHTTPRequestHandler):
    """Embeds by the first word it knows; 500 for a text that says so."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        if "fail" in asked:
            self.send_error(400)
            return
        vectors = [next((MEANINGS[word] for word in text.split() if word in MEANINGS), [0.1, 0.1]) for text in asked]
        items = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        body = json.dumps(
            {"object": "list", "model": "m", "data": items[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def measure() -> Iterator[EmbeddingSimilarity]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    yield EmbeddingSimilarity(EmbeddingSettings(model="m", base_url=url, api_key_env=None))
    server.shutdown()
    server.server_close()


def test_paraphrases_are_alike_and_an_empty_text_is_like_nothing(measure: EmbeddingSimilarity) -> None:
    matrix = measure.matrix(["the train leaves", "railway departure", "a cake", ""])
    assert matrix[0, 1] > 0.9
    assert matrix[0, 2] == pytest.approx(0)
    assert matrix[3].max() == 0


def test_a_paraphrase_is_a_re_ask(measure: EmbeddingSimilarity) -> None:
    message, following = "When does the train leave?", "Tell me the railway departure"
    cosine = float(measure.matrix([message.replace("train", "train "), following])[0, 1])
    assert reaction(message, following, cosine, measure).kind == "re_ask"
    assert reaction(message, following, cosine, LexicalSimilarity()).kind == "none"


def test_an_endpoint_that_fails_is_unavailable(measure: EmbeddingSimilarity) -> None:
    with pytest.raises(SimilarityUnavailable, match="embeddings of m"):
        measure.matrix(["fail", "train"])


def test_without_a_key_it_says_which_variable_to_set() -> None:
    settings = EmbeddingSettings(model="m", base_url="http://127.0.0.1:9/v1", api_key_env="NO_SUCH_KEY_VARIABLE")
    with pytest.raises(SimilarityUnavailable, match="NO_SUCH_KEY_VARIABLE"):
        EmbeddingSimilarity(settings).matrix(["a", "b"])


def test_the_panel_file_names_the_model() -> None:
    panel = panel_of({"embeddings": {"model": "m", "base_url": "http://localhost:1/v1"}}, "panel.yaml")
    assert similarity_of(panel.embeddings).name == "embeddings of m"
    assert similarity_of(None).name == "character n-grams"
    with pytest.raises(InvalidPanel, match="embeddings"):
        panel_of({"embeddings": {"base_url": "x"}}, "panel.yaml")
