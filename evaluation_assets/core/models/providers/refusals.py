"""Read an endpoint's error: its reason, made harmless, and the feature that it refuses."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Literal

from evaluation_assets.core.models.dialects import Feature
from evaluation_assets.core.text.masking import MASKED
from evaluation_assets.core.text.plain_text import plain

LONGEST_REASON = 240
"""Characters of a server's reason in a message: enough for a sentence with its numbers."""

_MOST_READ = 4000
_DEEPEST = 5
_MOST_TEXTS = 5

_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|github_pat|AIza|ya29|AKIA|ASIA|Bearer|Basic)"
    r"(?:[-_ .](?=\S*[\d*])|(?=[A-Za-z0-9*]{12}))[^\s'\"<>,;)]{6,}"
)
"""What looks like a key, whole or with stars in its middle; the endpoint's own key is masked by its value."""

_TAG = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^>]{0,300}>", re.DOTALL | re.IGNORECASE)

_CONTEXT = re.compile(
    r"context.?(?:length|window|size|limit)|maximum context|n_ctx|exceed_context"
    r"|(?:prompt|input|request|state|messages?|conversation)\W+(?:is |are |was )?(?:too long|too large for)"
    r"|too many (?:input )?tokens|maximum (?:model|input|sequence) length|longer than the (?:model|maximum)"
    r"|tokens? (?:count )?.{0,40}exceeds? (?:the )?(?:configured |maximum )",
    re.IGNORECASE,
)
_UNSUPPORTED = (
    r"(?:unsupported|n.t support|not support|no support|unrecogni[sz]ed|unknown|unexpected|extra_forbidden"
    r"|extra (?:inputs|fields)|not (?:permitted|allowed|enabled|available|implemented)|deprecated|\binstead\b|no longer"
    r"|only (?:the )?(?:default|1\b|user and assistant)|only .{0,30}(?:allowed|supported))"
)
_FEATURES: dict[Feature, Callable[[str], object]] = {
    "system_role": re.compile(
        rf"(?:system|developer).?(?:role|message|prompt|instruction)s?\b.{{0,60}}{_UNSUPPORTED}"
        rf"|{_UNSUPPORTED}.{{0,40}}\b(?:system|developer)\b.{{0,20}}(?:role|message|prompt|instruction)"
        rf"|role.{{0,20}}\bsystem\b.{{0,40}}{_UNSUPPORTED}|{_UNSUPPORTED}.{{0,20}}\brole.{{0,20}}\bsystem\b"
        r"|only user and assistant roles|roles must alternate",
        re.IGNORECASE,
    ).search,
    "max_tokens_field": re.compile(
        rf"max_(?:completion_)?tokens.*{_UNSUPPORTED}|{_UNSUPPORTED}.*max_(?:completion_)?tokens", re.IGNORECASE
    ).search,
    "temperature": re.compile(
        rf"\btemperature\b.*{_UNSUPPORTED}|{_UNSUPPORTED}.*\btemperature\b", re.IGNORECASE
    ).search,
    "structured": re.compile(
        r"response.?format|json.?(?:schema|object|mode)|\bschemas?\b|structured|output_config|guided|grammar",
        re.IGNORECASE,
    ).search,
}
_NEVER_A_FEATURE = (401, 402, 403, 408, 409, 413, 429, 529)


def texts_in(body: Any) -> list[str]:
    """What an error's body says: OpenAI's and Anthropic's `error`, FastAPI's `detail`, plain text, a page of HTML."""
    texts = (" ".join(_TAG.sub(" ", text[:_MOST_READ]).split()) for text in _texts(body, 0))
    return list(dict.fromkeys(text for text in islice(texts, _MOST_TEXTS) if text))


def reason_in(body: Any, mask: Callable[[str], str]) -> str:
    """The server's reason in one short line without keys; empty where it gives none."""
    reason = _KEY.sub(MASKED, mask(plain("; ".join(texts_in(body)))))
    return reason if len(reason) <= LONGEST_REASON else f"{reason[: LONGEST_REASON - 1].rstrip()}…"


def is_too_long(said: str) -> bool:
    """Whether a request does not fit the model's context window."""
    return _CONTEXT.search(said) is not None


def refused_feature(status: int, said: str) -> Feature | Literal["unclear"] | None:
    """The feature that an endpoint does not take, by what it says."""
    if status in _NEVER_A_FEATURE:
        return None
    for feature, is_named in _FEATURES.items():
        if is_named(said):
            return feature
    return "unclear" if status in (400, 422, 500) else None


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth == _DEEPEST:
        return
    elif isinstance(value, list):
        for each in value[:_MOST_TEXTS]:
            yield from _texts(each, depth + 1)
    elif isinstance(value, dict):
        if isinstance(said := value.get("msg"), str):
            place = value.get("loc")
            yield f"{'.'.join(map(str, place))}: {said}" if isinstance(place, list) else said
        for name in ("message", "error", "detail", "details", "errors", "raw"):
            yield from _texts(value.get(name), depth + 1)
        yield from _texts(
            (value.get("metadata") or {}).get("raw") if isinstance(value.get("metadata"), dict) else None, 1
        )
