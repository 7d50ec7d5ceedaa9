"""`panel.yaml`: the judges in use."""

import re
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from upath import UPath

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rules.judge import RulesJudge


class InvalidPanel(ValueError):
    """A panel file that cannot be used; the message names file, field and what to write instead."""


class JudgeSettings(BaseModel):
    """One judge of the panel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    provider: str
    model: str = "embedded"

    @field_validator("name")
    @classmethod
    def _is_a_plain_name(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError("a judge's name is lower-case letters, digits and underscores: it becomes an asset's name")
        return name


class Panel(BaseModel):
    """The judges, and how many of them must have scored a subject for an average to exist."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quorum: int = Field(default=1, ge=1)
    judges: tuple[JudgeSettings, ...] = (JudgeSettings(name="rules", provider="rules"),)

    @field_validator("judges")
    @classmethod
    def _names_differ(cls, judges: tuple[JudgeSettings, ...]) -> tuple[JudgeSettings, ...]:
        names = [judge.name for judge in judges]
        if not names or len(set(names)) < len(names):
            raise ValueError("a panel has at least one judge, and every judge a name of its own")
        return judges


PROVIDERS = {"rules": lambda settings: RulesJudge(settings.name)}
"""How the judge of each provider is made."""


def load_panel(path: UPath | None) -> Panel:
    """The panel in a file; the embedded judge alone when there is no file.

    Raises:
        InvalidPanel: the file is no YAML, a field is wrong, or a provider is unknown.
    """
    if path is None or not path.exists():
        return Panel()
    try:
        data: Any = yaml.safe_load(path.read_text("utf-8")) or {}
        panel = Panel.model_validate(data)
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as problem:
        raise InvalidPanel(f"{path}: {problem}") from problem
    return check_providers(panel, str(path))


def check_providers(panel: Panel, source: str) -> Panel:
    """The panel, if there is a provider for every judge.

    Raises:
        InvalidPanel: a provider is unknown; the message begins with `source`.
    """
    for judge in panel.judges:
        if judge.provider not in PROVIDERS:
            raise InvalidPanel(
                f"{source}: judge {judge.name!r} has provider {judge.provider!r}; there are: {', '.join(PROVIDERS)}"
            )
    return panel


def judges_of(panel: Panel) -> list[Judge]:
    """The panel's judges, ready to judge."""
    return [PROVIDERS[settings.provider](settings) for settings in panel.judges]
