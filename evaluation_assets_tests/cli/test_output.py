"""Labels with their texts on a terminal and in a file."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

PRINT = "from evaluation_assets.cli.output import echo_fact; echo_fact('label', 'word ' * 30 + 'x' * 100)"


COUNT = """
import time
from evaluation_assets.cli.output import counting
with counting("runs:") as step:
    for _ in range(3):
        time.sleep(0.6)
        step()
print("done")
"""


def on_a_terminal(columns: int, program: str = PRINT) -> list[str]:
    """The lines that a terminal of this width gets."""
    terminal, own = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=own, stderr=own, close_fds=True, env=environment
    ) as printing:
        os.close(own)
        written = b""
        while True:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            written += more
            if not more:
                break
        assert printing.wait() == 0
    os.close(terminal)
    return written.decode().splitlines()


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_gets_texts_wrapped_beside_their_label_and_long_words_whole(columns: int) -> None:
    *lines, word = on_a_terminal(columns)
    assert lines[0].startswith("  label              word word")
    assert all(line.startswith(" " * 21 + "word") for line in lines[1:])
    assert columns - 5 <= max(map(len, lines)) <= columns
    assert word == " " * 21 + "x" * 100


@pytest.mark.parametrize(
    ("line", "under"),
    [("  - " + "word " * 30, 4), ("  flips    12 of 40  " + "word " * 30, 21), ("  " + "word " * 30, 4)],
)
def test_a_line_goes_on_below_its_last_column(line: str, under: int) -> None:
    first, *others = on_a_terminal(80, f"from evaluation_assets.cli.output import echo; echo({line.rstrip()!r})")
    assert max(map(len, (first, *others))) <= 80 and others
    assert all(other.startswith(" " * under + "word") for other in others)


def test_a_command_stays_whole_and_the_words_around_it_are_wrapped() -> None:
    command = "evaluation-assets evaluate " + "word " * 30 + "end"
    said = "is not evaluated " * 6

    def printed(line: str) -> list[str]:
        return on_a_terminal(80, f"from evaluation_assets.cli.output import echo; echo({line!r})")

    assert printed(command) == [command] and printed(f"  {command}") == [f"  {command}"]
    *before, last = printed(f"{said}: {command}")
    assert last == f"  {command}" and len(before) == 2 and max(map(len, before)) <= 80 and before[1].endswith(":")
    under_columns = f"  label              {said}: evaluation-assets evaluate "
    assert printed(f"{under_columns}{'w' * 30}")[-1] == " " * 21 + f"evaluation-assets evaluate {'w' * 30}"
    assert printed(f"{under_columns}{'w' * 50}")[-1] == " " * 4 + f"evaluation-assets evaluate {'w' * 50}"
    assert f"`{command}`," in " ".join(printed(f"{said} `{command}`, says {said}"))
    assert all(len(line) <= 80 for line in printed(f"{said} those that evaluation-assets formats lists {said}"))


def test_a_file_gets_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True, check=True)
    assert done.stdout == f"  label              {'word ' * 30}{'x' * 100}\n"


def test_a_terminal_sees_what_is_counted_and_a_file_nothing() -> None:
    assert on_a_terminal(80, COUNT) == ["", "runs: 1", "runs: 2", "runs: 3", "\x1b[Kdone"]
    piped = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, check=True, text=True)
    assert (piped.stdout, piped.stderr) == ("done\n", "")
