"""`sources.yaml`: the sources of an installation, each with its type, its reach, and what its drops say."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from pydantic import AnyHttpUrl, Field
from upath import UPath

from evaluation_assets.core.intake.sources.coding_agent_titles import CODING_AGENT_TITLES
from evaluation_assets.core.models.addresses import without_password
from evaluation_assets.core.system.configuration import (
    Duration,
    InvalidConfiguration,
    Section,
    VariableName,
    read_entries,
)
from evaluation_assets.core.traces.formats.registry import FORMATS


class InvalidSources(InvalidConfiguration):
    """A sources.yaml that cannot be used; the message names file and field."""


class SourceSettings(Section):
    """What all sources have.

    Attributes:
        type: Type of the source.
        quiet_minutes: Minutes after a trace's last span, or a file's last change, before it is fetched.
        share: Share of the traces to fetch, above 0 and at most 1, drawn by their IDs; a source of files draws files.
        every_seconds: Minimum time in seconds between two looks of the source's sensor.
        since: How far back the first look goes, for instance `12h` or `7d`.
        suite: Suite in the sidecar of each drop. `null`: the name of the source.
        agent: Agent in the sidecar of each drop.
        agent_version: Version of the agent in the sidecar of each drop.
        labels: Labels in the sidecar of each drop, by name.
        format: Trace format in the sidecar of each drop. `null`: detected from the content.
        only: Which of the runs in each drop to evaluate, as in its sidecar. `null`: all.
    """

    type: Any
    quiet_minutes: float = Field(default=10, ge=0, le=525_600)
    share: float = Field(default=1.0, gt=0, le=1)
    every_seconds: int = Field(default=60, ge=1)
    since: Duration = timedelta(days=1)
    suite: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    labels: dict[str, Any] = Field(default_factory=dict)
    format: str | None = None
    only: dict[str, Any] | None = None

    @property
    def quiet(self) -> timedelta:
        """How long a trace has had no new span before it is fetched."""
        return timedelta(minutes=self.quiet_minutes)

    @property
    def place(self) -> str:
        """Where the traces are, in words; without secrets."""
        raise NotImplementedError


class MlflowSettings(SourceSettings):
    """Traces of an MLflow tracking server.

    MLflow's client reads credentials from its own variables, such as MLFLOW_TRACKING_TOKEN.

    Attributes:
        tracking_uri: Address of the tracking server.
        experiments: Names of the experiments. Default: all active ones.
        filter: A filter string of MLflow, which traces must match.
    """

    type: Literal["mlflow"]
    tracking_uri: str
    experiments: tuple[str, ...] = ()
    filter: str | None = None
    format: str | None = "mlflow"

    @property
    def place(self) -> str:
        """Tracking server and experiments."""
        return f"{without_password(self.tracking_uri)}, {', '.join(self.experiments) or 'all experiments'}"


class PhoenixSettings(SourceSettings):
    """Traces of a project in Arize Phoenix.

    Attributes:
        url: Address of the server.
        project: Name of the project.
        api_key_env: Environment variable with the API key. `null`: no key is sent.
    """

    type: Literal["phoenix"]
    url: AnyHttpUrl
    project: str = "default"
    api_key_env: VariableName | None = None
    format: str | None = "openinference"

    @property
    def place(self) -> str:
        """Server and project."""
        return f"{without_password(str(self.url))}, project {self.project}"


class FolderSettings(SourceSettings):
    """Files in a folder of this machine.

    Attributes:
        path: The folder; `~` is the user's home directory.
        include: Pattern for the names (`*.jsonl`) or paths (`logs/*`) of files.
    """

    type: Literal["folder"]
    path: str
    include: str | None = None

    @property
    def place(self) -> str:
        """The folder."""
        return self.path


class BucketSettings(SourceSettings):
    """Files in a bucket of an object store.

    Attributes:
        url: URL of the bucket or of a folder in it, such as `s3://bucket/logs`.
        include: Pattern for the names (`*.jsonl`) or paths (`logs/*`) of files.
    """

    type: Literal["bucket"]
    url: str = Field(pattern=r"^[a-z0-9]+://")
    include: str | None = None

    @property
    def place(self) -> str:
        """The bucket."""
        return self.url


class LangfuseSettings(SourceSettings):
    """Traces of a Langfuse project; its keys are those of the project.

    Attributes:
        url: Address of the server. Default: Langfuse Cloud, EU.
        public_key_env: Environment variable with the public key of the project.
        secret_key_env: Environment variable with the secret key of the project.
        environment: Environment that traces must have.
        trace_name: Name that traces must have.
        tags: Tags that traces must have, all of them.
    """

    type: Literal["langfuse"]
    url: AnyHttpUrl = AnyHttpUrl("https://cloud.langfuse.com")
    public_key_env: VariableName = "LANGFUSE_PUBLIC_KEY"
    secret_key_env: VariableName = "LANGFUSE_SECRET_KEY"  # noqa: S105  (the name of a variable)
    environment: str | None = None
    trace_name: str | None = None
    tags: tuple[str, ...] = ()
    format: str | None = "langfuse"

    @property
    def place(self) -> str:
        """The server."""
        return str(self.url)


class LangsmithSettings(SourceSettings):
    """Traces of a LangSmith project.

    Attributes:
        project: Name of the project.
        url: Address of the server. Default: LangSmith Cloud, US.
        api_key_env: Environment variable with the API key.
        filter: Expression of LangSmith's query language, which root runs must match.
        longest: Maximum duration of a trace, for instance `2h`. LangSmith finds traces by their start: longer ones are
            not fetched.
    """

    type: Literal["langsmith"]
    project: str
    url: AnyHttpUrl = AnyHttpUrl("https://api.smith.langchain.com")
    api_key_env: VariableName = "LANGSMITH_API_KEY"
    filter: str | None = None
    longest: Duration = timedelta(hours=2)
    format: str | None = "langchain"

    @property
    def place(self) -> str:
        """Server and project."""
        return f"{self.url}, project {self.project}"


class ReceivedSettings(SourceSettings):
    """Traces that `evaluation-assets receive` received.

    Attributes:
        spool: Path of the receiver's SQLite file. `null`: `received.sqlite` in the home folder.
    """

    type: Literal["received"]
    spool: str | None = None
    format: str | None = "otel"

    @property
    def place(self) -> str:
        """The spool."""
        return self.spool or "the receiver's spool in the home folder"


class CodingAgentSettings(SourceSettings):
    """Sessions that a coding agent keeps on this machine.

    Attributes:
        quiet_minutes: Minutes after a session's last change before it is fetched. One that continues later is fetched
            again, whole.
        project: Sessions that worked in this folder: its path, or the name of it or of a folder above.
    """

    type: Literal["claude_code", "codex", "gemini_cli", "qwen_code", "opencode", "goose", "cline"]
    quiet_minutes: float = Field(default=60, ge=0, le=525_600)
    project: str | None = None

    @property
    def place(self) -> str:
        """This machine, or the project on it."""
        return "sessions of this machine" if self.project is None else f"sessions in {self.project}"


SETTINGS: Mapping[str, type[SourceSettings]] = {
    "mlflow": MlflowSettings,
    "phoenix": PhoenixSettings,
    "folder": FolderSettings,
    "bucket": BucketSettings,
    "langfuse": LangfuseSettings,
    "langsmith": LangsmithSettings,
    "received": ReceivedSettings,
    **dict.fromkeys(CODING_AGENT_TITLES, CodingAgentSettings),
}
"""The settings of each type of source."""


def load_sources(file: UPath) -> dict[str, SourceSettings]:
    """The sources of an installation by name; none where there is no file.

    Raises:
        InvalidSources: no YAML, an unknown type or field, or a value out of range.
    """
    sources = read_entries(file, "sources", SETTINGS, InvalidSources)
    for name, settings in sources.items():
        if settings.format is not None and settings.format not in FORMATS:
            raise InvalidSources(
                f"{file}: sources.{name}.format: no such format; `evaluation-assets formats` lists the names"
            )
    return sources
