"""Rubrics: criteria with anchors and a scale for one kind of subject. They are data, one YAML file each."""

import hashlib
from collections.abc import Collection
from functools import cache, cached_property
from importlib.resources import files
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from upath import UPath

Level = Literal["clip", "category", "trajectory", "answer", "turn", "interaction", "session"]
SESSION_LEVELS: tuple[Level, ...] = ("interaction", "turn", "session")
Need = Literal[
    "reference_answer", "next_user_message", "knowledge", "tool_calls", "thoughts", "handoff", "several_agents"
]
ANY = "*"


class Scale(BaseModel):
    """The whole numbers a judge may give; stored scores are these mapped to 0..1."""

    model_config = ConfigDict(frozen=True)

    min: int
    max: int

    def to_share(self, points: float) -> float:
        """A number on the scale as 0..1."""
        return (points - self.min) / (self.max - self.min)

    def to_points(self, share: float) -> int:
        """The whole number on the scale that is stored as this share."""
        return round(self.min + share * (self.max - self.min))


class Criterion(BaseModel):
    """One question and what is seen at given points of the scale. `needs` names what has to exist to ask it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    question: str
    anchors: dict[int, str]
    needs: Need | None = None


class Rubric(BaseModel):
    """What a judge is asked about one kind of subject.

    `applies_to` lists tool types at clip and category level; `*` takes what no other rubric does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    level: Level
    version: int
    applies_to: tuple[str, ...]
    description: str
    scale: Scale
    criteria: tuple[Criterion, ...]

    @model_validator(mode="after")
    def _anchors_on_the_scale(self) -> Self:
        for criterion in self.criteria:
            points = set(criterion.anchors)
            if not {self.scale.min, self.scale.max} <= points <= set(range(self.scale.min, self.scale.max + 1)):
                raise ValueError(f"{self.name}.{criterion.key}: anchors must be on the scale and include its ends")
        return self

    @cached_property
    def version_name(self) -> str:
        """The version with a digest of the wording, so that no edit goes unnoticed: `1-3f2a91c0`."""
        return f"{self.version}-{hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:8]}"

    def criteria_for(self, there_is: Collection[Need]) -> tuple[Criterion, ...]:
        """The criteria that can be asked where `there_is` what some of them need."""
        return tuple(criterion for criterion in self.criteria if criterion.needs is None or criterion.needs in there_is)


class Rubrics:
    """All rubrics by level."""

    def __init__(self, rubrics: list[Rubric]) -> None:
        self._all = sorted(rubrics, key=lambda rubric: (rubric.level, rubric.name))

    def of_level(self, level: Level) -> list[Rubric]:
        """The rubrics of a level, by name."""
        return [rubric for rubric in self._all if rubric.level == level]

    def choose(self, level: Level, tool_type: str = ANY) -> Rubric:
        """The rubric for a tool type, else the general one of the level."""
        rubrics = self.of_level(level)
        for wanted in (tool_type, ANY):
            for rubric in rubrics:
                if wanted in rubric.applies_to or not rubric.applies_to:
                    return rubric
        raise LookupError(f"no rubric of level {level} applies to {tool_type}")

    def versions(self, level: Level | None = None) -> dict[str, str]:
        """Version of each rubric, by `level/name`."""
        return {f"{r.level}/{r.name}": r.version_name for r in self._all if level in (None, r.level)}


class InvalidRubric(ValueError):
    """A rubric file that cannot be used; the message names file and field."""


def load_rubrics(folder: UPath | None = None) -> Rubrics:
    """The rubrics that ship with the package, and an installation's own below `folder`, as `<level>/<name>.yaml`.

    An installation's rubric replaces the shipped one of its level and name.

    Raises:
        InvalidRubric: a file of the installation is no rubric.
    """
    rubrics = {(rubric.level, rubric.name): rubric for rubric in _shipped()}
    for path in sorted(folder.glob("*/*.yaml"), key=lambda path: path.path) if folder and folder.exists() else ():
        try:
            rubric = Rubric.model_validate(yaml.safe_load(path.read_text("utf-8")))
        except (yaml.YAMLError, UnicodeDecodeError, ValidationError) as problem:
            raise InvalidRubric(f"{path}: {problem}") from None
        rubrics[rubric.level, rubric.name] = rubric
    return Rubrics(list(rubrics.values()))


@cache
def _shipped() -> list[Rubric]:
    here = files("evaluation_assets.core.rubrics")
    paths = [path for folder in here.iterdir() if folder.is_dir() for path in folder.iterdir()]
    texts = [path.read_text("utf-8") for path in paths if path.name.endswith(".yaml")]
    return [Rubric.model_validate(yaml.safe_load(text)) for text in texts]
