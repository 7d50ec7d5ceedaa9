"""The log of Dagster's services without what helps nobody: a first start, ticks that say the same, frames."""

import re
from collections.abc import Callable, Iterable, Iterator

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TICK = re.compile(r"Checking for new runs for sensor: ")
_SKIPPED = re.compile(r"Sensor (\S+) skipped: (.*)")
_NO_REASON = re.compile(
    r"Sensor function returned an empty result|no parts to judge|0 runs in progress, none lost"
    r"|EVALUATION_NOTIFY_URL is not set|Initiating \S+\. Set cursor"
)
_FIRST_START = re.compile(r"Instance is configured with the following daemons: |No cursor for event type ")
_TIMED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
_EXPLAINED = "dagster._core.definitions.events.Failure: "
_FRAMES = "Stack Trace:"


def news(lines: Iterable[str], is_stopped: Callable[[], bool] = lambda: False) -> Iterator[str]:
    """The lines in order; of sensors that do nothing, a line when their reason changes.

    Once the services are stopped, only lines with a time: those that are still starting end with where they were.
    """
    reasons: dict[str, str] = {}
    for line in _without_frames(lines):
        text = _COLOURS.sub("", line)
        if _TICK.search(text) or _FIRST_START.search(text) or (is_stopped() and not _TIMED.match(text)):
            continue
        if skipped := _SKIPPED.search(text):
            sensor, reason = skipped.groups()
            if _NO_REASON.match(reason) or reason == reasons.get(sensor):
                continue
            reasons[sensor] = reason
        yield line


def _without_frames(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the frames of explained failures; each message stands once, though the run repeats its step."""
    is_explained = is_left_out = False
    said = ""
    for line in lines:
        if _TIMED.match(_COLOURS.sub("", line)):
            is_explained = is_left_out = False
            said = "" if "STEP_FAILURE" in line else said  # of another run
        elif line.startswith(_EXPLAINED):
            is_explained, is_left_out, said = True, line == said, line
        elif is_explained and line.startswith(_FRAMES):
            is_left_out = True
        if not is_left_out:
            yield line.removeprefix(_EXPLAINED)
