"""The names under which servers of this machine answer.

A page of another site that makes its own name point to this machine (DNS rebinding) is a page of this server to a
browser. It cannot do so with an address or a name of this machine.
"""

import os
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

ALLOWED_HOSTS = "EVALUATION_ALLOWED_HOSTS"
"""Variable with further names, separated by commas or spaces: those of a proxy in front, for instance."""


def refusal_of(host: str) -> str | None:
    """Why a request with this `Host` is not answered; `None` if it is."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        name = ""
    allowed = os.environ.get(ALLOWED_HOSTS, "").lower().replace(",", " ").split()
    if name and (_is_address(name) or name in ("localhost", socket.gethostname().lower(), *allowed)):
        return None
    return f"This server does not answer under this name. Start it with {ALLOWED_HOSTS}=NAME to allow it."


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
