"""`sinks.yaml`: the sinks of an installation, each with its type, where it is, and which scores it is sent."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import Field
from upath import UPath

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.models.addresses import without_password
from evaluation_assets.core.report.sinks.sink import OutcomeSink, ScoreSink
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, VariableName, read_entries
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.plugins import SINKS, plugins

Level = Literal["trajectory", "clip"]

_URL = r"^https?://"


class InvalidSinks(InvalidConfiguration):
    """A sinks.yaml that cannot be used; the message names file and field."""


class SinkSettings(Section):
    """What all sinks have.

    Attributes:
        type: Type of the sink.
        suites: Patterns of the suites whose results are sent, such as `nightly*`. Drops without a suite match only `*`.
        drops: Patterns of the drops whose results are sent.
        only_from: Source in sources.yaml that a drop must have been fetched by.
        timeout_seconds: Timeout of one request, in seconds.
        attempts: Maximum attempts at a request, 1 to 10.
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
    """What all sinks of scores have.

    Attributes:
        levels: Levels of the scores to send: `trajectory` on traces, `clip` on spans.
        passed_names: Names of people's annotations that are labels of the trajectory as a whole; others are labels of a
            criterion.
    """

    levels: tuple[Level, ...] = ("trajectory", "clip")
    passed_names: tuple[str, ...] = ("passed", "pass", "success", "correct", "correctness")


class MlflowSinkSettings(ScoreSinkSettings):
    """Assessments on the traces of an MLflow tracking server.

    Attributes:
        tracking_uri: Address of the tracking server.
        token_env: Environment variable with the token.
        username_env: Environment variable with the user name, to be sent with a password instead of the token.
        password_env: Environment variable with the password; only used with `username_env`.
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
    """Annotations on the traces and spans of a project in Arize Phoenix.

    Attributes:
        url: Address of the server.
        project: Name of the project.
        api_key_env: Environment variable with the API key.
    """

    type: Literal["phoenix"]
    url: str = Field(pattern=_URL)
    project: str = "default"
    api_key_env: VariableName = "PHOENIX_API_KEY"

    @property
    def place(self) -> str:
        """Server and project."""
        return f"{without_password(self.url)}, project {self.project}"


class LangfuseSinkSettings(ScoreSinkSettings):
    """Scores on the traces and observations of a Langfuse project; the keys say which project.

    Attributes:
        url: Address of the server. Default: Langfuse Cloud, EU.
        public_key_env: Environment variable with the public key of the project.
        secret_key_env: Environment variable with the secret key of the project.
    """

    type: Literal["langfuse"]
    url: str = Field(default="https://cloud.langfuse.com", pattern=_URL)
    public_key_env: VariableName = "LANGFUSE_PUBLIC_KEY"
    secret_key_env: VariableName = "LANGFUSE_SECRET_KEY"  # noqa: S105  (a variable)

    @property
    def place(self) -> str:
        """Server."""
        return without_password(self.url)


class LangsmithSinkSettings(ScoreSinkSettings):
    """Feedback on the runs of LangSmith.

    Attributes:
        url: Address of the server. Default: LangSmith Cloud, US.
        api_key_env: Environment variable with the API key.
        project_id: ID of the project, for deployments that find no run without it.
    """

    type: Literal["langsmith"]
    url: str = Field(default="https://api.smith.langchain.com", pattern=_URL)
    api_key_env: VariableName = "LANGSMITH_API_KEY"
    project_id: str | None = None

    @property
    def place(self) -> str:
        """Server."""
        return without_password(self.url)


class OtlpSinkSettings(ScoreSinkSettings):
    """Events `gen_ai.evaluation.result` to an OTLP/HTTP endpoint.

    Attributes:
        passed_names: Not used: OTLP has no annotations of people.
        endpoint: Address of the endpoint; `/v1/logs` is added to a URL without a path.
        headers_env: Environment variable with headers as `key=value,key=value`.
    """

    type: Literal["otlp"]
    endpoint: str = Field(default="http://localhost:4318", pattern=_URL)
    headers_env: VariableName = "OTEL_EXPORTER_OTLP_HEADERS"

    @property
    def place(self) -> str:
        """Endpoint."""
        return without_password(self.endpoint)


class GithubSinkSettings(SinkSettings):
    """The gate's verdict on a commit, and a comment on its pull request.

    Repository, commit and pull request are the labels `github_repository`, `github_sha` and `github_pr` of the drop's
    sidecar; else GITHUB_REPOSITORY, GITHUB_SHA and GITHUB_REF, which GitHub Actions sets.

    Attributes:
        api_url: Address of the API; GitHub Enterprise has its own, such as `https://github.example.com/api/v3`.
        token_env: Environment variable with the token.
        status: How the commit is marked: with a `check_run`, which needs the token of a GitHub app (that of GitHub
            Actions is one), with a `commit_status`, or not at all (`none`).
        comment: Whether to keep a comment per drop on the pull request. Commits and dates in its name do not count.
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

    Attributes:
        url_env: Environment variable with the URL, which is a secret.
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
        raise TypeError("it is not a subclass of SinkSettings or ScoreSinkSettings with a method `opened`")
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
