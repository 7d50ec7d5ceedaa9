"""Which subjects a judge is asked about: its levels, and a sample of the trajectories.

All decisions are pure functions of the panel's settings and the trajectory's ID, so that the plan, the run, the checks
and the scores agree. A subject that no judge was to be asked about is not missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from evaluation_assets.core.judging.answer_claims import CLAIMS_VERSION
from evaluation_assets.core.judging.rubrics.model import SESSION_LEVELS, Level
from evaluation_assets.core.judging.score_map import ScoreMap
from evaluation_assets.core.judging.subjects import Chain, chain_of, in_one_call, with_claims, with_probability
from evaluation_assets.core.traces.trajectories.identity import fraction_of

Preset = Literal["quick", "standard", "full"]

EVERY_LEVEL: tuple[Level, ...] = get_args(Level)

IN_BATCHES: tuple[Level, ...] = ("category", "trajectory", "answer", "session")
"""Levels whose questions go into batches: few of a conversation hang on each other."""

STANDARD_LEVELS: tuple[Level, ...] = ("clip", "category", "trajectory", "answer")

QUICK_LEVELS: tuple[Level, ...] = ("trajectory", "answer")
"""Levels that one call a trajectory gives verdicts at."""

QUICK_VERSION = "1"
"""Increment when the quick prompt changes."""

IMAGES_VERSION = "1"
"""Increment when other images are sent."""

PROBABILITY_VERSION = "1"
"""Increment when the request for probabilities changes."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What one judge is asked.

    `share` is the share of the trajectories, 0 to 1, whose subjects it is asked about. `is_quick` asks for the
    verdicts on a trajectory and its answer in one call, with the clips that went wrong. `asks_probability` asks with
    each score how likely it is that a person would let the subject pass. `score_map` is how its scores of whole
    trajectories count; empty: as they are. `sees_images` sends the images of a subject with its text. `asks_claims`
    asks about a whole trajectory what its final answer states, and what shows it.
    """

    levels: frozenset[Level] = frozenset(EVERY_LEVEL)
    share: float = 1.0
    is_quick: bool = False
    asks_probability: bool = False
    score_map: ScoreMap = ()
    sees_images: bool = False
    asks_claims: bool = False

    @classmethod
    def of(
        cls, levels: Iterable[Level] | None, preset: Preset | None, share: float | None, *, probability: bool = False
    ) -> "Selection":
        """The selection that settings describe. Without levels and preset, every level is asked."""
        named = {"quick": QUICK_LEVELS, "standard": STANDARD_LEVELS, "full": EVERY_LEVEL, None: EVERY_LEVEL}[preset]
        chosen = frozenset(named if levels is None else levels)
        return cls(chosen, 1.0 if share is None else share, preset == "quick", probability)

    @property
    def weight(self) -> float:
        """Inverse of the probability that a trajectory is in the sample: the number of trajectories it stands for."""
        return 1 / self.share

    def has(self, trajectory_id: str) -> bool:
        """Whether the trajectory is in the sample."""
        return is_sampled(trajectory_id, self.share)

    def asks(self, level: Level, trajectory_id: str) -> bool:
        """Whether the judge is to be asked about the subjects of this level of a trajectory."""
        return level in self.levels and self.has(trajectory_id)

    def chain(self, chain: Chain) -> Chain | None:
        """The part of a chain that the judge is asked about; `None` if there is none."""
        if not self.has(chain.trajectory.id):
            return None
        kept = [subject for subject in chain.subjects if subject.level in self.levels]
        if not kept:
            return None
        if self.is_quick:
            chosen = in_one_call(chain)
        else:
            chosen = chain if len(kept) == len(chain.subjects) else chain_of(chain.trajectory, kept, chain.own)
        if self.asks_claims:
            chosen = with_claims(chosen)
        return with_probability(chosen) if self.asks_probability else chosen

    def chains(self, chains: Iterable[Chain]) -> Iterator[Chain]:
        """The chains that the judge is asked about."""
        return (chosen for chain in chains if (chosen := self.chain(chain)) is not None)

    def described(self, levels: Sequence[Level] = EVERY_LEVEL) -> str:
        """What distinguishes it from asking about everything at these levels; empty where nothing does.

        Digests and comparability keys are made of it.
        """
        return "; ".join(key for key, _ in self._differences(levels))

    @property
    def in_words(self) -> str:
        """The same at all levels, for people: without versions of the requests."""
        return "; ".join(words for _, words in self._differences(EVERY_LEVEL))

    def _differences(self, levels: Sequence[Level]) -> Iterator[tuple[str, str]]:
        """What differs from asking about everything, each with its words for people."""
        asked = [level for level in levels if level in self.levels]
        if asked and self.is_quick:
            yield f"quick {QUICK_VERSION}", "preset quick"
        elif len(asked) < len(levels):
            named = f"levels {', '.join(asked) or 'none'}"
            yield named, named
        if asked and self.share < 1:
            yield f"sample {self.share:g}", f"sample {self.share:g}"
        if asked and self.sees_images:
            yield f"images {IMAGES_VERSION}", "images"
        if asked and self.asks_probability:
            yield f"probability {PROBABILITY_VERSION}", "probabilities"
        if "trajectory" in asked and self.asks_claims:
            yield f"claims {CLAIMS_VERSION}", "claims of the final answer"
        if "trajectory" in asked and self.score_map:
            yield f"map {self.score_map}", f"map {self.score_map}"


EVERYTHING = Selection()
"""The default: every subject of every level."""


def is_sampled(trajectory_id: str, share: float) -> bool:
    """Whether a trajectory is in the sample of this share.

    It depends on the ID alone. Smaller samples are parts of larger ones, so that judges with different shares are
    asked about the same trajectories.
    """
    return fraction_of(f"sample {trajectory_id}") < share


class Selecting(Protocol):
    """A judge, or the settings of one."""

    @property
    def name(self) -> str:
        """Its name in the panel."""
        ...

    @property
    def selection(self) -> Selection:
        """Which subjects it is asked about."""
        ...


@dataclass(frozen=True, slots=True)
class Selections:
    """Who in a panel is to be asked about what, by the name of the judge. Unknown judges are asked about everything."""

    by_judge: Mapping[str, Selection]

    def judges(self, names: Iterable[str], level: Level, trajectory_id: str) -> list[str]:
        """Those of the named judges that are to be asked about the subjects of a level of a trajectory."""
        return [name for name in names if self.by_judge.get(name, EVERYTHING).asks(level, trajectory_id)]

    def quorum(self, names: Sequence[str], level: Level, trajectory_id: str, quorum: int) -> int:
        """How many of the named judges must score a subject: only those that are to be asked about it count."""
        asked = len(self.judges(names, level, trajectory_id))
        return quorum if asked == len(names) else min(quorum, asked)

    def asker(self, names: Sequence[str], levels: Sequence[Level]) -> Callable[[str], bool]:
        """A function of the trajectory's ID: whether any of the named judges is to be asked at any of the levels."""
        shares = [
            own.share
            for own in (self.by_judge.get(name, EVERYTHING) for name in names)
            if any(level in own.levels for level in levels)
        ]
        most = max(shares, default=0.0)
        return lambda trajectory_id: most > 0 and is_sampled(trajectory_id, most)


def selections_of(judges: Iterable[Selecting]) -> Selections:
    """The selections of a panel's judges."""
    return Selections({judge.name: judge.selection for judge in judges})


ALL_ASKED = Selections({})
"""Every judge is asked about everything."""


def session_level(subject: str) -> Level:
    """The level of a subject of a session, by its name in `session_verdicts`."""
    interaction, turn, session = SESSION_LEVELS
    if subject == session:
        return session
    return interaction if "/interaction/" in subject else turn
