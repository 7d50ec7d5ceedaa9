"""The page that the UI opens with: the lineage of a report. Dagster's, of recent runs, is empty at first."""

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from evaluation_assets.defs.groups import REPORT

LINEAGE = f"/asset-groups?expanded=global@global:{REPORT}"
"""The page of the UI with all groups, of which that of the report is open."""


class OpensWithLineage:
    """Answers a request for the address of the UI itself with the address of its lineage."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = scope.get("root_path", "")
        if scope["type"] == "http" and scope["path"].removeprefix(prefix) in ("", "/"):
            await RedirectResponse(prefix + LINEAGE, 302)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
