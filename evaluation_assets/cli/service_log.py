"""The log of Dagster's services without ticks that say what the tick before them said."""

import re
from collections.abc import Iterable, Iterator

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TICK = re.compile(r"Checking for new runs for sensor: ")
_SKIPPED = re.compile(r"Sensor (\S+) skipped: (.*)")
_NO_REASON = "Sensor function returned an empty result"


def news(lines: Iterable[str]) -> Iterator[str]:
    """The lines in order; of sensors that do nothing, a line when their reason changes."""
    reasons: dict[str, str] = {}
    for line in lines:
        text = _COLOURS.sub("", line)
        if _TICK.search(text):
            continue
        if skipped := _SKIPPED.search(text):
            sensor, reason = skipped.groups()
            if reason in (_NO_REASON, reasons.get(sensor)):
                continue
            reasons[sensor] = reason
        yield line
