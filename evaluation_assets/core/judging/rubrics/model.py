"""Rubrics: criteria with anchors and a scale for one kind of subject, one YAML file each."""

import hashlib
from collections.abc import Collection
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from upath import UPath

from evaluation_assets.core.system.configuration import InvalidConfiguration, Share, read_settings
from evaluation_assets.core.system.own_files import files_below
from evaluation_assets.core.text.shipped_yaml import shipped_yaml

Level = Literal["clip", "category", "trajectory", "answer", "turn", "interaction", "session"]
SESSION_LEVELS: tuple[Level, ...] = ("interaction", "turn", "session")
Need = Literal[
    "reference_answer", "next_user_message", "knowledge", "tool_calls", "thoughts", "handoff", "several_agents"
]
ANY = "*"
_TYPED_LEVELS: tuple[Level, ...] = ("clip", "category")
"""Levels with a rubric for each tool type."""


Ties = Literal["abstain", "lowest"]
"""What a majority without a winner counts as: nothing, or the lowest of the most frequent scores."""


METRIC_NAMES = frozenset(
    "overall success pass_rate completed cost_usd latency_s suite_score tool_coverage keyword_score efficiency".split()
)
"""What drops are measured by without criteria. Criteria of whole trajectories stand beside these, under their names."""

_MOST_POINTS = 1000
"""Whole numbers on a scale: judges are given each of them to choose from."""

_DECIMALS = 6
"""Decimals of points that are figured out from a stored share."""


class Scale(BaseModel):
    """The numbers a judge may give; stored scores are these mapped to 0..1.

    Attributes:
        min: The lowest number, stored as 0.
        max: The highest number, stored as 1.
        continuous: Whether judges may give decimals; else they give whole numbers.
        aggregate: How the scores of judges are combined: `mean`, or `majority` for scales whose numbers are verdicts or
            categories.
        ties: What a tie gives: no score (`abstain`), or the lowest of the most frequent ones (`lowest`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: int
    max: int
    continuous: bool = False
    aggregate: Literal["mean", "majority"] = "mean"
    ties: Ties = "abstain"

    @model_serializer(mode="wrap")
    def _without_the_default(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Rubrics of whole numbers that are averaged keep the version that they had before there was a choice."""
        fields = serialize(self)
        if not self.continuous:
            del fields["continuous"]
        if self.aggregate == "mean":
            del fields["aggregate"], fields["ties"]
        return fields

    @model_validator(mode="after")
    def _has_points(self) -> Self:
        if self.min >= self.max:
            raise ValueError("min has to be less than max")
        if not self.continuous and self.max - self.min > _MOST_POINTS:
            raise ValueError(f"more than {_MOST_POINTS} points; choose fewer, or set continuous: true")
        return self

    @model_validator(mode="after")
    def _votes_are_whole(self) -> Self:
        if self.continuous and self.aggregate == "majority":
            raise ValueError("a majority needs whole numbers; remove continuous or aggregate")
        return self

    def __str__(self) -> str:
        return f"{self.min} to {self.max}{', with decimals' if self.continuous else ''}"

    def to_share(self, points: float) -> float:
        """A number on the scale as 0..1."""
        return (points - self.min) / (self.max - self.min)

    def to_points(self, share: float) -> float:
        """The number on the scale that is stored as this share: a whole one, unless the scale is continuous."""
        points = self.min + share * (self.max - self.min)
        return round(points, _DECIMALS) if self.continuous else round(points)


class Criterion(BaseModel):
    """One question.

    Attributes:
        key: Name of the criterion in tables and reports; of whole trajectories, not that of a metric such as `success`.
        question: What the judge is asked.
        anchors: What is seen at a number of the scale; required for the lowest and the highest.
        needs: What must exist for the question to be asked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=1)
    question: str
    anchors: dict[int | float, str]
    needs: Need | None = None


class Example(BaseModel):
    """Work that people have labelled, shown to judges with the rubric.

    Attributes:
        work: Task and work, as they may leave for a provider.
        label: What people gave it, 0 (fail) to 1 (pass).
        score: What a judge gave it, 0 to 1: the mean of its criteria.
        reason: What people wrote about it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    work: str
    label: Share
    score: Share
    reason: str = ""


class Rubric(BaseModel):
    """What a judge is asked about one kind of subject.

    Attributes:
        name: Name of the rubric. It replaces a shipped one of the same level and name.
        level: The kind of subject; also the name of the file's folder.
        version: Number of the version. A digest of the content is added.
        applies_to: Tool types, at clip and category level; `*`: all that no other rubric applies to. Default: the
            rubric's name.
        description: What the judge reads before the criteria.
        scale: The numbers that the judge may give, for all criteria.
        criteria: The questions.
        examples: Labelled work that judges are shown. `panel align` writes it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    level: Level
    version: int
    applies_to: tuple[str, ...] = ()
    description: str
    scale: Scale
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    examples: tuple[Example, ...] = ()

    @model_serializer(mode="wrap")
    def _without_no_examples(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Rubrics without examples keep the version that they had before there were any."""
        fields = serialize(self)
        if not self.examples:
            del fields["examples"]
        return fields

    @model_validator(mode="after")
    def _criteria_have_names_of_their_own(self) -> Self:
        keys = [criterion.key for criterion in self.criteria]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise ValueError(f"{self.name}.{twice}: two criteria have this key; rename one")
        if self.level == "trajectory" and (taken := next((key for key in keys if key in METRIC_NAMES), None)):
            raise ValueError(f"{self.name}.{taken}: a metric has this name; rename the criterion")
        return self

    @model_validator(mode="after")
    def _anchors_on_the_scale(self) -> Self:
        for criterion in self.criteria:
            points = set(criterion.anchors)
            on_scale = all(
                self.scale.min <= point <= self.scale.max and (self.scale.continuous or isinstance(point, int))
                for point in points
            )
            if not on_scale or not {self.scale.min, self.scale.max} <= points:
                raise ValueError(f"{self.name}.{criterion.key}: anchors must be on the scale and include its ends")
        return self

    @property
    def covers(self) -> tuple[str, ...]:
        """The tool types it is for, and `*` for all that have none of their own."""
        return self.applies_to or ((self.name,) if self.level in _TYPED_LEVELS else (ANY,))

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
                if wanted in rubric.covers:
                    return rubric
        raise LookupError(f"no rubric of level {level} applies to {tool_type}")

    def majorities(self, *levels: Level) -> dict[str, Ties]:
        """The rubrics of some levels whose scores are aggregated by majority, by name, with their rule for ties."""
        return {
            rubric.name: rubric.scale.ties
            for rubric in self._all
            if rubric.level in levels and rubric.scale.aggregate == "majority"
        }

    @property
    def criteria(self) -> set[tuple[Level, str]]:
        """The level and key of every criterion."""
        return {(rubric.level, criterion.key) for rubric in self._all for criterion in rubric.criteria}

    def versions(self, level: Level | None = None) -> dict[str, str]:
        """Version of each rubric, by `level/name`."""
        return {f"{r.level}/{r.name}": r.version_name for r in self._all if level in (None, r.level)}


class InvalidRubric(InvalidConfiguration):
    """A rubric file that cannot be used; the message names file and field."""


def load_rubrics(folder: UPath | None = None) -> Rubrics:
    """The rubrics that ship with the package, and an installation's own below `folder`, as `<level>/<name>.yaml`.

    They add up. An installation's rubric replaces the shipped one of its level and name.

    Raises:
        InvalidRubric: a file of the installation is no rubric, could never be used, or is for what another is for.
    """
    by_place = {(rubric.level, rubric.name): (f"the shipped {rubric.name}", rubric) for rubric in _shipped()}
    own: dict[tuple[str, str], UPath] = {}
    for path in own_rubrics(folder):
        rubric = _read(path)
        if (first := own.setdefault((rubric.level, rubric.name), path)) != path:
            raise InvalidRubric(f"{first} and {path} both define the {rubric.level} rubric {rubric.name!r}; remove one")
        by_place[rubric.level, rubric.name] = (str(path), rubric)
    _check_that_subjects_have_one_each(list(by_place.values()))
    return Rubrics([rubric for _, rubric in by_place.values()])


def own_file(folder: UPath, rubric: Rubric) -> UPath | None:
    """The file of an installation that defines the rubric of this level and name; `None` if it has none.

    Raises:
        InvalidRubric: a file is no rubric.
    """
    same = (
        path for path in own_rubrics(folder) if (own := _read(path)).level == rubric.level and own.name == rubric.name
    )
    return next(same, None)


def own_rubrics(folder: UPath | None) -> list[UPath]:
    """An installation's rubric files; one in another place or of another ending would be overlooked for ever."""
    if folder is None or not folder.exists():
        return []
    paths = [path for path in files_below(folder) if path.suffix in (".yaml", ".yml")]
    for path in paths:
        if path.suffix != ".yaml" or path.parent.parent.path.rstrip("/") != folder.path.rstrip("/"):
            raise InvalidRubric(f"{path} is in the wrong place; move it to {folder}/<level>/<name>.yaml")
    return paths


def _read(path: UPath) -> Rubric:
    rubric = read_settings(path, Rubric, InvalidRubric)
    if path.parent.name != rubric.level:
        raise InvalidRubric(f"{path}: level is {rubric.level}, but the folder is for {path.parent.name} rubrics")
    if rubric.level not in _TYPED_LEVELS and rubric.covers != (ANY,):
        raise InvalidRubric(
            f"{path}: would never be used, because a {rubric.level} has no tool type; remove applies_to"
        )
    if rubric.level == "category" and "final" in rubric.covers:
        raise InvalidRubric(f"{path}: would never be used for 'final', because the final clip is in no category")
    return rubric


def _check_that_subjects_have_one_each(rubrics: list[tuple[str, Rubric]]) -> None:
    """No tool type of a level has two rubrics, and none goes without."""
    first: dict[tuple[str, str], tuple[str, Rubric]] = {}
    for place, rubric in rubrics:
        for tool_type in rubric.covers:
            other, known = first.setdefault((rubric.level, tool_type), (place, rubric))
            if known is not rubric:
                what = (
                    f"all {rubric.level} subjects" if tool_type == ANY else f"{rubric.level} subjects of {tool_type!r}"
                )
                raise InvalidRubric(
                    f"{place} and {other} both apply to {what}; to replace one, name yours {known.name!r}"
                )
    for level in {rubric.level for _, rubric in rubrics}:
        if (level, ANY) not in first:
            raise InvalidRubric(f"no {level} rubric applies to other tool types; one needs applies_to: ['{ANY}']")


@cache
def _shipped() -> list[Rubric]:
    package = "evaluation_assets.core.judging.rubrics"
    paths = [(folder, path) for folder in files(package).iterdir() if folder.is_dir() for path in folder.iterdir()]
    names = [f"{folder.name}/{path.name}" for folder, path in paths if path.name.endswith(".yaml")]
    return [Rubric.model_validate(shipped_yaml(package, name)) for name in names]
