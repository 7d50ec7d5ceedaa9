"""The recording shows what a terminal showed, for as long as it did, and as text."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from benchmarks.recording import Frames, drawn

SVG = "{http://www.w3.org/2000/svg}"
COUNTS = r"""
import sys, time
sys.stdout.write("at <1> of 2\r")
sys.stdout.flush()
time.sleep(0.3)
print("\x1b[K\x1b[31mat 2 of 2\x1b[0m")
"""


def test_a_line_is_drawn_for_as_long_as_the_terminal_shows_it(tmp_path: Path) -> None:
    frames = Frames(tmp_path)
    frames.type("count")
    frames.run([sys.executable, "-c", COUNTS])
    frames.pause(5)
    drawing = ET.fromstring(drawn(frames.shown, frames.seconds))
    lines = {"".join(line.itertext()): line for line in drawing.iter(f"{SVG}text")}
    assert {"$count", "at <1> of 2", "at 2 of 2"} <= set(lines)
    begins, ends = _shown(lines["at <1> of 2"])
    assert 0 < begins < ends == _shown(lines["at 2 of 2"])[0] and _shown(lines["at 2 of 2"])[1] == 1
    assert lines["at 2 of 2"][0].get("fill") != lines["at <1> of 2"][0].get("fill")


def _shown(line: ET.Element) -> list[float]:
    (animation,) = line.iter(f"{SVG}animate")
    return [float(time) for time in (animation.get("keyTimes") or "").split(";")[1:]]
