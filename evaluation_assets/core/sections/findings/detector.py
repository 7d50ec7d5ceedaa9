"""What a detector declares, and what it gives."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evaluation_assets.core.sections.findings.claim import Claim
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.finding import Finding, Place, Severity
from evaluation_assets.core.sections.findings.kinds import kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What the function of a detector gives. `evidence` is a quotation; without `severity`, that of the kind holds."""

    kind: str
    place: Place
    evidence: str
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """A detector: the kinds that it finds, and the function that finds them in a run in linear time.

    The function also gives each claim that it checks, right or wrong.

    `version` is incremented when the same run would give other findings or claims.
    """

    name: str
    version: str
    kinds: tuple[str, ...]
    detect: Callable[[Course], Iterable[Detected | Claim]]

    def findings(self, course: Course) -> Iterator[Finding]:
        """What went wrong in a run, according to this detector."""
        return (result for result in self.checked(course) if isinstance(result, Finding))

    def checked(self, course: Course) -> Iterator[Finding | Claim]:
        """What went wrong in a run, and the claims that this detector checks."""
        for result in self.detect(course):
            if isinstance(result, Claim):
                yield result
                continue
            yield Finding(
                kind=result.kind,
                severity=result.severity or kinds()[result.kind].severity,
                place=result.place,
                evidence=result.evidence,
                detector=self.name,
                detector_version=self.version,
            )
