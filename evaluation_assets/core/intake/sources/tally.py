"""What a receiver has received, in numbers and words."""

from dataclasses import dataclass

from evaluation_assets.core.text.counted import counted


@dataclass(slots=True)
class Tally:
    """What was received since the start.

    `ignored` are log records that are not events of generative AI, `refused` spans and log records that break a limit,
    `failed` requests that were not accepted. `problem` is why the last item or request was refused.
    """

    requests: int = 0
    spans: int = 0
    events: int = 0
    traces: int = 0
    refused: int = 0
    ignored: int = 0
    failed: int = 0
    problem: str = ""

    def __str__(self) -> str:
        said = [f"{counted(self.spans, 'span')} of {counted(self.traces, 'new trace')}"]
        said += [counted(self.events, "log event")] if self.events else []
        said += [f"{counted(self.ignored, 'other log record')} ignored"] if self.ignored else []
        said += [f"{counted(self.refused, 'item')} refused"] if self.refused else []
        said += [counted(self.failed, "failed request")] if self.failed else []
        return f"Received {', '.join(said)}" + (f" (last problem: {self.problem})" if self.problem else "")
