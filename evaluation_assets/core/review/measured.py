"""What commands measured of a judge, kept for its card: `judges/<name>.json` in the home folder."""

from pydantic import ValidationError

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.review.alignment import Alignment
from evaluation_assets.core.review.attacks import Attack
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.faults import faults_of


class InvalidMeasured(InvalidConfiguration):
    """The file holds something else; the message names it."""


class Measured(Section):
    """What was measured last; `None` is never."""

    alignment: Alignment | None = None
    attack: Attack | None = None

    def of_version(self, judge_version: str) -> "Measured":
        """What holds for this version of the judge."""
        return Measured(
            alignment=self.alignment if self.alignment and self.alignment.judge_version == judge_version else None,
            attack=self.attack if self.attack and self.attack.judge_version == judge_version else None,
        )


def read_measured(home: Installation, judge: str) -> Measured:
    """What was measured of a judge.

    Raises:
        InvalidMeasured: the file cannot be used.
    """
    file = home.measured_file(judge)
    if not file.exists():
        return Measured()
    try:
        return Measured.model_validate_json(file.read_bytes())
    except ValidationError as problem:
        raise InvalidMeasured(f"{file}: {faults_of(problem)[0]}; remove it and measure again") from None


def remember(
    home: Installation, judge: str, *, alignment: Alignment | None = None, attack: Attack | None = None
) -> None:
    """Keep what was measured; the rest stays.

    Raises:
        InvalidMeasured: the file that is there cannot be used.
    """
    file = home.measured_file(judge)
    with home.edits(file):
        known = read_measured(home, judge)
        merged = Measured(alignment=alignment or known.alignment, attack=attack or known.attack)
        publish_bytes(file, merged.model_dump_json(indent=1).encode() + b"\n")
