"""The viewer's script: modules of JavaScript joined to one, which the page's security policy names by its hash."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./([a-z_]+)\.js\";\n", re.MULTILINE)


@cache
def script(first: str = "main") -> str:
    """The viewer, or what else begins with a module, as one script in a scope of its own."""
    return f'"use strict";\n(() => {{\n{module(first)}\n}})();\n'


def module(name: str) -> str:
    """A module after those that it imports, without imports and exports: all share one scope."""
    joined: dict[str, str] = {}
    _join(name, joined)
    return "\n".join(joined.values())


def script_hash(first: str = "main") -> str:
    """The source expression of a Content-Security-Policy that allows the script and no other."""
    return f"'sha256-{b64encode(sha256(script(first).encode()).digest()).decode()}'"


def _join(name: str, joined: dict[str, str]) -> None:
    if name in joined:
        return
    source = (files(__package__ or "") / "script" / f"{name}.js").read_text("utf-8")
    for imported in _IMPORT.findall(source):
        _join(imported, joined)
    joined[name] = _IMPORT.sub("", source).replace("\nexport ", "\n")
