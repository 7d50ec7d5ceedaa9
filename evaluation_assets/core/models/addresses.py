"""URLs of endpoints, shown without passwords and keys."""

import re
from base64 import b64encode
from typing import Annotated
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from pydantic import AfterValidator

_NAMES_A_SECRET = re.compile(r"key|token|secret|password|credential|^sig$", re.IGNORECASE)


def _address(value: str) -> str:
    """The address, if a request can be sent to it. The message does not repeat it: it may hold a password."""
    try:
        parts = urlsplit(value)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of brackets, or the port
        is_usable = False
    if not is_usable:
        raise ValueError("not an HTTP address; write one such as http://localhost:8000/v1")
    return value


Address = Annotated[str, AfterValidator(_address)]
"""The URL of an endpoint."""


def split_password(url: str) -> tuple[str, str | None]:
    """An address without user and password, and these as the value of an `Authorization` header."""
    parts = urlsplit(url)
    user, at_sign, host = parts.netloc.rpartition("@")
    if not at_sign:
        return url, None
    return urlunsplit(parts._replace(netloc=host)), f"Basic {b64encode(unquote(user).encode()).decode()}"


def without_password(url: str) -> str:
    """An address as it may be shown: without user and password, and without keys in its query."""
    shown = split_password(url)[0]
    if not secrets_in_query(shown):
        return shown
    parts = urlsplit(shown)
    query = [(name, value) for name, value in parse_qsl(parts.query) if not _NAMES_A_SECRET.search(name)]
    return urlunsplit(parts._replace(query=urlencode(query)))


def secrets_in_query(url: str) -> list[str]:
    """Values in the query of an address whose names say that they are secrets."""
    return [value for name, value in parse_qsl(urlsplit(url).query) if _NAMES_A_SECRET.search(name)]
