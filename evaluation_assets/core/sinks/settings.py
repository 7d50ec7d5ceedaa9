"""`sinks.yaml`: the sinks of an installation, each with its type, where it is, and which scores it is sent."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import Field
from upath import UPath

from evaluation_assets.core.configuration import InvalidConfiguration, Section, VariableName, read_entries
from evaluation_assets.core.facts import DropFacts
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.llm.addresses import without_password
from evaluation_assets.core.plugins import SINKS, plugins
from evaluation_assets.core.sinks.sink import OutcomeSink, ScoreSink

Level = Literal["trajectory", "clip"]

_URL = r"^https?://"


class InvalidSinks(InvalidConfiguration):
    """A sinks.yaml that cannot be used; the message names file and field."""


class SinkSettings(Section):
    """What all sinks have.

    `suites` and `drops` are patterns such as `nightly*`; a drop without a suite matches only `*`. `only_from` is the
    source in sources.yaml that the drop was fetched by. `timeout_seconds` is for one request, of which there are at
    most `attempts`.
    """

    type: Any
    suites: tuple[str, ...] = ("*",)
    drops: tuple[str, ...] = ("*",)
    only_from: str | None = None
    timeout_seconds: float = Field(default=30, gt=0)
    attempts: int = Field(default=4, ge=1, le=10)

    @property
    def place(self) -> str:
        """Where the scores are sent, in words; without secrets. By default the type."""
        return str(self.type)

    def takes(self, drop: str, suite: str | None, source: str | None) -> bool:
        """Whether the results of a drop are sent."""
        return (
            any(fnmatchcase(drop, pattern) for pattern in self.drops)
            and any(fnmatchcase(suite or "", pattern) for pattern in self.suites)
            and self.only_from in (None, source)
        )


class ScoreSinkSettings(SinkSettings):
    """A sink of scores. `levels` are those of the scores that are sent: on traces, on spans (the clips), or both.

    Annotations of people with one of the `passed_names` come back as labels of the trajectory as a whole.
    """

    levels: tuple[Level, ...] = ("trajectory", "clip")
    passed_names: tuple[str, ...] = ("passed", "pass", "success", "correct", "correctness")


class MlflowSinkSettings(ScoreSinkSettings):
    """Assessments on the traces of an MLflow tracking server.

    The token is optional; with `username_env` the server is sent user and password instead.
    """

    type: Literal["mlflow"]
    tracking_uri: str = Field(pattern=_URL)
    token_env: VariableName = "MLFLOW_TRACKING_TOKEN"  # noqa: S105  (a variable)
    username_env: VariableName | None = None
    password_env: VariableName = "MLFLOW_TRACKING_PASSWORD"  # noqa: S105  (a variable)

    @property
    def place(self) -> str:
        """Tracking server."""
        return without_password(self.tracking_uri)


class PhoenixSinkSettings(ScoreSinkSettings):
    """Annotations on the traces and spans of a project in Arize Phoenix."""

    type: Literal["phoenix"]
    url: str = Field(pattern=_URL)
    project: str = "default"
    api_key_env: VariableName = "PHOENIX_API_KEY"

    @property
    def place(self) -> str:
        """Server and project."""
        return f"{without_password(self.url)}, project {self.project}"


class LangfuseSinkSettings(ScoreSinkSettings):
    """Scores on the traces and observations of a Langfuse project; the keys say which project."""

    type: Literal["langfuse"]
    url: str = Field(default="https://cloud.langfuse.com", pattern=_URL)
    public_key_env: VariableName = "LANGFUSE_PUBLIC_KEY"
    secret_key_env: VariableName = "LANGFUSE_SECRET_KEY"  # noqa: S105  (a variable)

    @property
    def place(self) -> str:
        """Server."""
        return without_password(self.url)


class LangsmithSinkSettings(ScoreSinkSettings):
    """Feedback on the runs of LangSmith. `project_id` is needed by deployments that find no run without it."""

    type: Literal["langsmith"]
    url: str = Field(default="https://api.smith.langchain.com", pattern=_URL)
    api_key_env: VariableName = "LANGSMITH_API_KEY"
    project_id: str | None = None

    @property
    def place(self) -> str:
        """Server."""
        return without_password(self.url)


class OtlpSinkSettings(ScoreSinkSettings):
    """Events `gen_ai.evaluation.result` to an OTLP/HTTP endpoint; `/v1/logs` is added to a URL without a path.

    `headers_env` names a variable of the form `key=value,key=value`, as OTEL_EXPORTER_OTLP_HEADERS has it.
    """

    type: Literal["otlp"]
    endpoint: str = Field(default="http://localhost:4318", pattern=_URL)
    headers_env: VariableName = "OTEL_EXPORTER_OTLP_HEADERS"

    @property
    def place(self) -> str:
        """Endpoint."""
        return without_password(self.endpoint)


class GithubSinkSettings(SinkSettings):
    """The gate's verdict on a commit, and a comment on its pull request, which is updated in place.

    Repository, commit and pull request are the labels `github_repository`, `github_sha` and `github_pr` of the drop's
    sidecar; else GITHUB_REPOSITORY, GITHUB_SHA and GITHUB_REF, which GitHub Actions sets. `status` is how the commit is
    marked: a check run needs the token of a GitHub app, which GitHub Actions has.
    """

    type: Literal["github"]
    api_url: str = Field(default="https://api.github.com", pattern=_URL)
    token_env: VariableName = "GITHUB_TOKEN"  # noqa: S105  (a variable)
    status: Literal["check_run", "commit_status", "none"] = "check_run"
    comment: bool = True

    @property
    def place(self) -> str:
        """API."""
        return without_password(self.api_url)


class WebhookSinkSettings(SinkSettings):
    """The headline and the gate of each drop as JSON with a `text`, which Slack-compatible webhooks display.

    The URL is a secret and is named by its variable.
    """

    type: Literal["webhook"]
    url_env: VariableName = "EVALUATION_WEBHOOK_URL"

    @property
    def place(self) -> str:
        """The variable that holds the URL."""
        return f"URL in {self.url_env}"


_SHIPPED: Mapping[str, type[SinkSettings]] = {
    "mlflow": MlflowSinkSettings,
    "phoenix": PhoenixSinkSettings,
    "langfuse": LangfuseSinkSettings,
    "langsmith": LangsmithSinkSettings,
    "otlp": OtlpSinkSettings,
    "github": GithubSinkSettings,
    "webhook": WebhookSinkSettings,
}


@runtime_checkable
class Opening(Protocol):
    """Settings of a sink of another package, which connect to it themselves."""

    def opened(self) -> AbstractContextManager[ScoreSink | OutcomeSink]:
        """The sink, connected while the block runs: of scores for `ScoreSinkSettings`, else of outcomes."""
        ...


def _of_plugin(name: str, settings: object) -> type[SinkSettings]:
    """The settings of a sink of another package."""
    if not isinstance(settings, type) or not issubclass(settings, SinkSettings) or not hasattr(settings, "opened"):
        raise TypeError("it is no subclass of SinkSettings or ScoreSinkSettings with a method `opened`")
    return settings


SETTINGS: Mapping[str, type[SinkSettings]] = {**_SHIPPED, **plugins(SINKS, frozenset(_SHIPPED), _of_plugin)}
"""The settings of each type of sink."""


def load_sinks(file: UPath) -> dict[str, SinkSettings]:
    """The sinks of an installation by name; none where there is no file.

    Raises:
        InvalidSinks: no YAML, an unknown type or field, or a value out of range.
    """
    return read_entries(file, "sinks", SETTINGS, InvalidSinks)


def takes(home: Installation, drop: str, settings: SinkSettings) -> bool:
    """Whether the results of a drop of the installation are sent to a sink."""
    sidecar = DropFacts.of(home.table(drop, "raw_trajectories")).sidecar
    return settings.takes(drop, sidecar.suite, (sidecar.model_extra or {}).get("source"))
