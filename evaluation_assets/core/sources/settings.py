"""`sources.yaml`: the sources of an installation, each with its type, its reach, and what its drops say."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AnyHttpUrl, Field
from upath import UPath

from evaluation_assets.core.configuration import (
    Duration,
    InvalidConfiguration,
    Section,
    Share,
    VariableName,
    read_entries,
)
from evaluation_assets.core.formats.registry import FORMATS


class InvalidSources(InvalidConfiguration):
    """A sources.yaml that cannot be used; the message names file and field."""


class SourceSettings(Section):
    """What all sources have.

    A trace is fetched once its last span ended `quiet_minutes` ago. `share` is the sample of traces, by their IDs.
    `since` is how far the first look goes back, `every_seconds` the time between looks. `suite`, `agent`,
    `agent_version`, `labels` and `format` are written into the sidecar of each drop.
    """

    type: Any
    quiet_minutes: float = Field(default=10, ge=0)
    share: Share = 1.0
    every_seconds: int = Field(default=60, ge=1)
    since: Duration = timedelta(days=1)
    suite: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    labels: dict[str, Any] = Field(default_factory=dict)
    format: str | None = None

    @property
    def quiet(self) -> timedelta:
        """How long a trace has had no new span before it is fetched."""
        return timedelta(minutes=self.quiet_minutes)

    @property
    def place(self) -> str:
        """Where the traces are, in words; without secrets."""
        raise NotImplementedError


def without_credentials(url: str) -> str:
    """A URL without user, password and query, to be shown."""
    parts = urlsplit(url)
    if not parts.netloc:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class MlflowSettings(SourceSettings):
    """Traces of an MLflow tracking server: all active experiments, or the named ones; `filter` is MLflow's own."""

    type: Literal["mlflow"]
    tracking_uri: str
    experiments: tuple[str, ...] = ()
    filter: str | None = None
    format: str | None = "mlflow"

    @property
    def place(self) -> str:
        """Tracking server and experiments."""
        return f"{without_credentials(self.tracking_uri)}, {', '.join(self.experiments) or 'all experiments'}"


class PhoenixSettings(SourceSettings):
    """Traces of a project in Arize Phoenix."""

    type: Literal["phoenix"]
    url: AnyHttpUrl
    project: str = "default"
    api_key_env: VariableName | None = None
    format: str | None = "openinference"

    @property
    def place(self) -> str:
        """Server and project."""
        return f"{without_credentials(str(self.url))}, project {self.project}"


class FolderSettings(SourceSettings):
    """Files in a folder of this machine. `include` selects them by name (`*.jsonl`) or path (`logs/*`)."""

    type: Literal["folder"]
    path: str
    include: str | None = None

    @property
    def place(self) -> str:
        """The folder."""
        return self.path


class BucketSettings(SourceSettings):
    """Files in a bucket of an object store."""

    type: Literal["bucket"]
    url: str = Field(pattern=r"^[a-z0-9]+://")
    include: str | None = None

    @property
    def place(self) -> str:
        """The bucket."""
        return self.url


class LangfuseSettings(SourceSettings):
    """Traces of a Langfuse project; its keys are those of the project.

    `environment`, `trace_name` and `tags` select traces: those with this environment, this name and all of these tags.
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

    `filter` is an expression of LangSmith's query language about root runs. LangSmith finds traces by the time that
    they began; one that takes longer than `longest` is not fetched.
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
    """Traces that `evaluation-assets receive` received. `spool` is its file, by default the one in the home folder."""

    type: Literal["received"]
    spool: str | None = None
    format: str | None = "otel"

    @property
    def place(self) -> str:
        """The spool."""
        return self.spool or "the receiver's spool in the home folder"


CODING_AGENTS = ("claude_code", "codex", "gemini_cli", "qwen_code", "opencode", "goose", "cline")
"""The coding agents whose sessions on this machine are read."""


class CodingAgentSettings(SourceSettings):
    """Sessions that a coding agent keeps on this machine; with `project`, those that worked in this folder.

    A session that goes on later is fetched again, whole, so that it is given an hour to be quiet.
    """

    type: Literal["claude_code", "codex", "gemini_cli", "qwen_code", "opencode", "goose", "cline"]
    quiet_minutes: float = Field(default=60, ge=0)
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
    **dict.fromkeys(CODING_AGENTS, CodingAgentSettings),
}
"""The settings of each type of source."""


def load_sources(file: UPath) -> dict[str, SourceSettings]:
    """The sources of an installation by name; none where there is no file.

    Raises:
        InvalidSources: no YAML, an unknown type or field, or a value out of range.
    """
    found = read_entries(file, "sources", SETTINGS, InvalidSources)
    for name, settings in found.items():
        if settings.format is not None and settings.format not in FORMATS:
            raise InvalidSources(
                f"{file}: sources.{name}.format: no such format; `evaluation-assets formats` lists the names"
            )
    return found
