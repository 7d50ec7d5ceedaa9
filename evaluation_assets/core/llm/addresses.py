"""Remove passwords from URLs."""

from base64 import b64encode
from urllib.parse import unquote, urlsplit, urlunsplit


def split_password(url: str) -> tuple[str, str | None]:
    """An address without user and password, and these as the value of an `Authorization` header."""
    parts = urlsplit(url)
    user, found, host = parts.netloc.rpartition("@")
    if not found:
        return url, None
    return urlunsplit(parts._replace(netloc=host)), f"Basic {b64encode(unquote(user).encode()).decode()}"


def without_password(url: str) -> str:
    """An address as it may be shown."""
    return split_password(url)[0]
