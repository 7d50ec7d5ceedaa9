"""Answer only requests that no page of another site can send in a user's name."""

from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import Headers, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from evaluation_assets.cli.serving.own_hosts import refusal_of

_READING = ("GET", "HEAD", "OPTIONS")


class OwnPagesOnly:
    """Dagster's UI does what any request asks for, so requests of other pages are refused before it sees them.

    A browser names the page in `Origin` with all requests but those that read. So reading ones, which an image or a
    link of any page sends, must change nothing.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        answer = _refusal(scope)
        if answer is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)  # the handshake is answered with 403
        else:
            await answer(scope, receive, send)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if (reason := refusal_of(host)) is not None:
        return PlainTextResponse(reason, 421)
    if scope["type"] == "http" and scope["method"] in _READING:
        if _has_mutation(QueryParams(scope["query_string"]).get("query", "")):
            return PlainTextResponse("Mutations must be sent with POST.", 405, {"Allow": "POST"})
        return None
    origin = headers.get("origin")
    if origin is not None and origin.lower().partition("://")[2] != host.lower():
        return PlainTextResponse("Requests from pages of other sites are refused.", 403)
    return None


def _has_mutation(query: str) -> bool:
    try:
        definitions = parse(query, no_location=True).definitions
    except GraphQLError:
        return False  # nor can it be carried out
    return any(
        isinstance(each, OperationDefinitionNode) and each.operation is OperationType.MUTATION for each in definitions
    )
