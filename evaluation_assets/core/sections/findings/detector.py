"""What a detector declares, and what it gives."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evaluation_assets.core.sections.findings.claim import Claim, ClaimVerdict
from evaluation_assets.core.sections.findings.evidence.course import Course, Message, PlacedStep
from evaluation_assets.core.sections.findings.finding import Finding, Place, Severity
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.traces.trajectories.model import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What the function of a detector gives. `evidence` is a quotation; without `severity`, that of the kind holds."""

    kind: str
    place: Place
    evidence: str
    severity: Severity | None = None


def in_step(kind: str, made: PlacedStep, span: Span | None, severity: Severity | None = None) -> Detected:
    """What went wrong at a span of the trajectory, in a step."""
    return Detected(kind=kind, place=made.place(span), evidence=made.trajectory.piece(span), severity=severity)


def in_message(kind: str, message: Message, span: Span, severity: Severity | None = None) -> Detected:
    """What went wrong at a span of a message."""
    return Detected(kind=kind, place=message.place(*span), evidence=message.text[slice(*span)], severity=severity)


def claimed_in(message: Message, span: Span, verdict: ClaimVerdict) -> Claim:
    """The claim at a span of a message."""
    return Claim(place=message.place(*span), text=message.text[slice(*span)], verdict=verdict)


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
