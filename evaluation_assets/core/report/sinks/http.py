"""HTTP for sinks: one request at a time, repeated while that may help, and reasons without secrets.

Every store is spoken to in plain HTTP, not with its client library. The clients of Langfuse and LangSmith send from
background threads, so that nobody learns which score failed; that of MLflow has one server for the whole process, and
that of Phoenix raises without the reason in the reply. httpx2 is installed with the clients of the model providers.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from evaluation_assets.core.models.addresses import split_password
from evaluation_assets.core.system.one_origin import origin_of
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.text.plain_text import plain

if TYPE_CHECKING:  # it takes 0.1 s to import
    import httpx2

_TOO_MANY = 429
_BUSY = (408, _TOO_MANY, 500, 502, 503, 504)
_LONGEST_REASON = 300
_LONGEST_PAUSE = 60.0


class SendError(Exception):
    """A request that failed; the message says why, without secrets. `status` is that of the reply, if there was one.

    `is_down`: no other request would succeed now. `may_pass`: the same request may succeed later, after `retry_after`
    seconds if the server says so.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        is_down: bool = False,
        may_pass: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.is_down = is_down
        self.may_pass = may_pass
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is tried, how long one may take, and the first pause, which doubles each time (seconds)."""

    attempts: int = 4
    timeout: float = 30.0
    first_pause: float = 0.5


class Http:
    """A connection to one server, for several threads. A password in the URL is sent as a header.

    A successful reply has to be JSON, unless `any_reply`: the login page of a proxy is none.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        secrets: Iterable[str],
        patience: Patience,
        any_reply: bool = False,
    ) -> None:
        import httpx2  # noqa: PLC0415

        self._address, authorization = split_password(url)
        sent = {"Authorization": authorization, **(headers or {})} if authorization else dict(headers or {})
        self._mask = Mask([*secrets, *sent.values()] if authorization else secrets)
        self._client = httpx2.Client(headers=sent, timeout=patience.timeout)
        self._patience = patience
        self._any_reply = any_reply
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._client.close()

    def post(self, path: str, content: Any, params: Mapping[str, Any] | None = None) -> Any:
        """POST JSON; return the JSON of the reply."""
        return self.request("POST", path, content, params)

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """GET JSON."""
        return self.request("GET", path, None, params)

    def request(self, method: str, path: str, content: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request, again after a pause if the server is busy or not reached; return the JSON of the reply.

        Raises:
            SendError: the server was not reached, refused, was busy each time, or asked for a pause of over a minute.
        """
        return self._patiently(lambda: self._once(method, path, content, params), lambda: None)

    def create(self, path: str, content: Any, find: Callable[[], Any]) -> Any:
        """POST what must not be made twice. Before it is repeated, `find` looks whether it was made.

        Raises:
            SendError: as `request`.
        """
        return self._patiently(lambda: self._once("POST", path, content, None), find)

    def _patiently(self, send: Callable[[], Any], find: Callable[[], Any]) -> Any:
        pause = self._patience.first_pause
        for _ in range(self._patience.attempts - 1):
            try:
                return send()
            except SendError as problem:
                if not problem.may_pass or (problem.retry_after or 0.0) > _LONGEST_PAUSE:
                    raise
                self._closing.wait(problem.retry_after or pause)
                if problem.status != _TOO_MANY and (existing := find()) is not None:
                    return existing
            pause *= 2
        return send()

    def _once(self, method: str, path: str, content: Any, params: Mapping[str, Any] | None) -> Any:
        import httpx2  # noqa: PLC0415

        url = f"{self._address.rstrip('/')}{path}" if path else self._address  # a signed URL stays as it is
        try:
            reply = self._client.request(method, url, json=content, params=params)
        except httpx2.HTTPError as problem:
            raise SendError(_reason(problem), is_down=True, may_pass=True) from None
        if not reply.is_success:
            raise self._refusal(reply)
        try:
            return reply.json()
        except ValueError:
            if reply.content.strip() and not self._any_reply:
                raise SendError("the reply is not JSON, perhaps a login page; check the URL", is_down=True) from None
            return None

    def _refusal(self, reply: "httpx2.Response") -> SendError:
        text = " ".join(plain(self._mask(reply.text)).split())[:_LONGEST_REASON]
        if reply.has_redirect_location:  # which is not followed
            text = (
                f"it redirects to {origin_of(str(reply.url.join(reply.headers['location'])))}; configure that address"
            )
        pause = _retry_after(reply)
        if pause is not None and pause > _LONGEST_PAUSE:
            text = f"{text}; it takes no request for {pause:,.0f} s".removeprefix("; ")
        reason = f"HTTP {reply.status_code}" + (f": {text}" if text else "")
        status = reply.status_code
        return SendError(
            reason,
            status=status,
            is_down=status in (401, 403, _TOO_MANY, 502, 503, 504),
            may_pass=status in _BUSY,
            retry_after=pause,
        )


def _reason(problem: Exception) -> str:
    """Why no reply came, without the URL, which may be a secret."""
    import httpx2  # noqa: PLC0415

    words = {httpx2.ConnectError: "cannot connect", httpx2.TimeoutException: "no answer in time"}
    return next((word for kind, word in words.items() if isinstance(problem, kind)), type(problem).__name__)


def _retry_after(reply: "httpx2.Response") -> float | None:
    """Seconds to wait, as the server says in `Retry-After`: a number, or a date."""
    said = reply.headers.get("retry-after")
    if not said:
        return None
    try:
        return max(float(said), 0.0)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0) if moment.tzinfo else None
