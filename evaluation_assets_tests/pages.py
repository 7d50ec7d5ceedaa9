"""What tests look for in the HTML of reports."""

import re

from evaluation_assets.core.report.viewer.script import script

_OWN = re.compile(r'<script type="text/plain" id="viewer-(?:index|block-\d+)">[A-Za-z0-9+/=]*</script>')


def without_viewer(page: str, first: str = "main") -> str:
    """A page without its own script, which begins with a module, and its data. No other script belongs into it."""
    return _OWN.sub("", page).replace(f"<script>{script(first)}</script>", "")
