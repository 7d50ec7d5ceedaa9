"""POST JSON to a webhook. The URL is a secret and appears in no message."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from evaluation_assets.core.report.sinks.http import Http, Patience, SendError
from evaluation_assets.core.report.sinks.sink import Delivery, DropOutcome
from evaluation_assets.core.text.plain_text import for_chat


def post(url: str, content: dict[str, Any], patience: Patience) -> None:
    """POST JSON.

    Raises:
        ValueError: the URL is not http or https.
        SendError: no answer, or an HTTP error. Messages never contain the URL.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError("the notification URL must start with http:// or https://")
    with Http(url, secrets=_parts(url), patience=patience, any_reply=True) as http:
        http.post("", content)


def _parts(url: str) -> list[str]:
    """The URL and those of its parts that may be secret: servers repeat the path in their replies."""
    parts = urlsplit(url)
    values = [value for _, value in parse_qsl(parts.query)]
    return [url, f"{parts.path}?{parts.query}", parts.path, parts.query, *parts.path.split("/"), *values]


class Webhook:
    """A receiver of outcomes. After a crash it may be told twice; `id` and `content` are then the same."""

    def __init__(self, url: str, patience: Patience) -> None:
        self._url, self._patience = url, patience

    def tell(self, outcome: DropOutcome) -> Delivery:
        content = {
            "text": for_chat(outcome.sentence),
            "kind": "evaluation",
            "id": outcome.id,
            "content": outcome.content,
            "drop": outcome.drop,
            "suite": outcome.suite,
            "verdict": outcome.verdict,
            "blocks": outcome.blocks,
            **outcome.data,
        }
        try:
            post(self._url, content, self._patience)
        except (SendError, ValueError) as problem:
            return Delivery(outcome, "failed", str(problem))
        return Delivery(outcome, "delivered")
