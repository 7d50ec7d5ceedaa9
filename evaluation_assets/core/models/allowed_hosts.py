"""The hosts at which models may be called, where an installation names them."""

import os
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

ALLOWED_MODEL_HOSTS = "EVALUATION_ALLOWED_MODEL_HOSTS"
"""Variable with host names and patterns such as `*.example.com`, separated by commas or spaces. Without it any host is
allowed."""


def refusal_of(url: str) -> str | None:
    """Why no model may be called at an address; `None` if one may."""
    allowed = os.environ.get(ALLOWED_MODEL_HOSTS, "").lower().replace(",", " ").split()
    host = (urlsplit(url).hostname or "").lower().rstrip(".")
    if not allowed or any(fnmatchcase(host, pattern) for pattern in allowed):
        return None
    return f"models may not be called at {host}: it is not in {ALLOWED_MODEL_HOSTS}"
