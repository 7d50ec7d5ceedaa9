"""Whether a sink has taken everything it was sent."""

from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.report.sinks.delivering import Tally
from evaluation_assets.core.text.counted import counted


def delivered(tally: Tally) -> Finding:
    """How many were not delivered, and why. They are sent again by the next run."""
    figures = {"sent": tally.sent, "already_there": tally.there, "failed": tally.failed}
    if not tally.failed:
        return Finding(True, None, figures)
    return Finding(False, f"{counted(tally.failed, 'delivery')} failed: {tally.reason}", figures, "warn")
