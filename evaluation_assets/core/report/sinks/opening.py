"""Open the sinks that sinks.yaml names."""

import os
from base64 import b64encode
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeGuard, cast

from evaluation_assets.core.report.sinks.annotations import AnnotatedStore
from evaluation_assets.core.report.sinks.github import GithubSink
from evaluation_assets.core.report.sinks.http import Http, Patience
from evaluation_assets.core.report.sinks.settings import (
    GithubSinkSettings,
    LangfuseSinkSettings,
    LangsmithSinkSettings,
    MlflowSinkSettings,
    Opening,
    OtlpSinkSettings,
    PhoenixSinkSettings,
    ScoreSinkSettings,
    SinkSettings,
    WebhookSinkSettings,
)
from evaluation_assets.core.report.sinks.sink import OutcomeSink, ScoreSink
from evaluation_assets.core.report.sinks.stores.langfuse import LangfuseSink
from evaluation_assets.core.report.sinks.stores.langsmith import LangsmithSink
from evaluation_assets.core.report.sinks.stores.mlflow import MlflowSink
from evaluation_assets.core.report.sinks.stores.otlp import OtlpSink, path_of
from evaluation_assets.core.report.sinks.stores.phoenix import PhoenixSink
from evaluation_assets.core.report.sinks.webhook import Webhook


class MissingKey(Exception):
    """A variable that holds a key is not set; the message names it."""


def variables_of(settings: SinkSettings) -> list[str]:
    """The variables that the settings of a sink name."""
    names = (getattr(settings, field) for field in type(settings).model_fields if field.endswith("_env"))
    return [name for name in names if name is not None]


def secrets_of(settings: SinkSettings) -> list[str]:
    """The values of the variables that the settings of a sink name."""
    return [value for name in variables_of(settings) if (value := os.environ.get(name))]


def patience_of(settings: SinkSettings) -> Patience:
    """How often and how long requests to a sink are tried."""
    return Patience(settings.attempts, settings.timeout_seconds)


@contextmanager
def open_sink(settings: SinkSettings) -> Iterator[ScoreSink | OutcomeSink]:
    """A sink, connected while the block runs.

    Raises:
        MissingKey: a variable that the sink needs is not set.
    """
    if isinstance(settings, Opening):
        with settings.opened() as sink:
            yield sink
        return
    if isinstance(settings, WebhookSinkSettings):
        yield Webhook(_needed(settings.url_env), patience_of(settings))
        return
    url, headers = _address(settings)
    with Http(url, headers, secrets=secrets_of(settings), patience=patience_of(settings)) as http:
        yield _sink(settings, http)


def is_annotated(settings: SinkSettings) -> TypeGuard[ScoreSinkSettings]:
    """Whether people annotate traces in the sink."""
    return isinstance(settings, MlflowSinkSettings | PhoenixSinkSettings | LangfuseSinkSettings | LangsmithSinkSettings)


def open_annotated(settings: ScoreSinkSettings) -> AbstractContextManager[AnnotatedStore]:
    """A store that people annotate traces in, connected while the block runs.

    Raises:
        MissingKey: a variable that the store needs is not set.
    """
    return cast(AbstractContextManager[AnnotatedStore], open_sink(settings))


def _sink(settings: SinkSettings, http: Http) -> ScoreSink | OutcomeSink:
    match settings:
        case MlflowSinkSettings():
            return MlflowSink(http)
        case PhoenixSinkSettings():
            return PhoenixSink(http, settings.project)
        case LangfuseSinkSettings():
            return LangfuseSink(http)
        case LangsmithSinkSettings():
            return LangsmithSink(http, settings.project_id)
        case OtlpSinkSettings():
            return OtlpSink(http, path_of(settings.endpoint))
        case GithubSinkSettings():
            return GithubSink(http, settings)
        case _:
            raise AssertionError(settings.type)


def _address(settings: SinkSettings) -> tuple[str, dict[str, str]]:
    """The URL of a sink, and the headers that say who sends."""
    match settings:
        case MlflowSinkSettings():
            if settings.username_env is not None:
                return settings.tracking_uri, _basic(_needed(settings.username_env), _needed(settings.password_env))
            return settings.tracking_uri, _bearer(os.environ.get(settings.token_env))
        case PhoenixSinkSettings():
            return settings.url, _bearer(os.environ.get(settings.api_key_env))
        case LangfuseSinkSettings():
            return settings.url, _basic(_needed(settings.public_key_env), _needed(settings.secret_key_env))
        case LangsmithSinkSettings():
            return settings.url, {"x-api-key": _needed(settings.api_key_env)}
        case OtlpSinkSettings():
            pairs = (pair.partition("=") for pair in os.environ.get(settings.headers_env, "").split(","))
            return settings.endpoint, {name.strip(): value.strip() for name, _, value in pairs if name.strip()}
        case GithubSinkSettings():
            return settings.api_url, {
                **_bearer(_needed(settings.token_env)),
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
            }
        case _:
            raise AssertionError(settings.type)


def _needed(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise MissingKey(f"{variable} is not set")
    return value


def _bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}
