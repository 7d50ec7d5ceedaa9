"""Google Cloud credentials for models on Vertex AI. Needs the extra `vertex`."""

import asyncio

import google.auth
import google.auth.exceptions
from google.auth.credentials import Credentials
from google.auth.transport.requests import Request

from evaluation_assets.core.models.errors import ProviderError

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def credentials() -> Credentials:
    """The credentials that the environment names (application default credentials).

    Raises:
        ProviderError: there are none.
    """
    try:
        default, _ = google.auth.default(scopes=[_SCOPE])
    except google.auth.exceptions.GoogleAuthError:
        todo = "set GOOGLE_APPLICATION_CREDENTIALS, or run: gcloud auth application-default login"
        raise ProviderError("auth", f"no Google credentials: {todo}", retryable=False) from None
    return default


class AccessToken:
    """A bearer token, refreshed before it expires by one caller at a time. Call it for every request."""

    def __init__(self, found: Credentials) -> None:
        self._credentials = found
        self._lock = asyncio.Lock()

    async def __call__(self) -> str:
        """The token.

        Raises:
            ProviderError: Google did not give one.
        """
        async with self._lock:
            if not self._credentials.valid:
                try:
                    await asyncio.to_thread(self._credentials.refresh, Request())
                except google.auth.exceptions.GoogleAuthError as problem:
                    retryable = isinstance(problem, google.auth.exceptions.TransportError)
                    raise ProviderError(
                        "auth", f"Google gave no access token ({type(problem).__name__})", retryable=retryable
                    ) from None
        return str(self._credentials.token)
