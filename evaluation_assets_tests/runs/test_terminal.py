"""A command at a terminal: what moves while judges work, and how it ends when it is told to stop."""

import errno
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs import progress
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import KEY
from evaluation_assets_tests.forked_commands import start_command
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow


def evaluation(tmp_path: Path, server: ModelServer) -> list[str]:
    """The arguments of a command that takes a while: two drops, of which the first is judged for seconds."""
    (tmp_path / "first.jsonl").write_bytes(drop_of(40))
    (tmp_path / "second.jsonl").write_bytes(drop_of(2, marked="of the second drop"))
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, max_concurrency=4)]}))
    files = [str(tmp_path / name) for name in ("first.jsonl", "second.jsonl")]
    return ["evaluate", *files, "--yes", "--home", str(tmp_path / "home"), "--panel", str(tmp_path / "panel.yaml")]


class Terminal:
    """A process at a pseudo-terminal of its own, and all it writes there."""

    def __init__(self, arguments: list[str], *, columns: int = 160) -> None:
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        # Parallel test processes are told to be 80 columns wide, whatever their terminal.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        there = os.ttyname(self._theirs)
        environment = inherited | {"TEST_KEY": KEY, "TERM": "xterm-256color"}
        self.process = start_command(arguments, environment, (there, there, there))
        self.written = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while block := os.read(self._ours, 1 << 16):
                self.written += block
        except OSError as problem:
            assert problem.errno == errno.EIO  # the other end is closed

    def type(self, text: str) -> None:
        """Type at the keyboard."""
        os.write(self._ours, text.encode())

    def end(self) -> tuple[int, str]:
        """The exit status, and what was written."""
        status = self.process.wait(120)
        os.close(self._theirs)
        self._reader.join(60)
        os.close(self._ours)
        return status, self.written.decode()


@pytest.mark.parametrize("columns", [80, 160])
def test_the_display_moves_while_judges_work_and_ctrl_c_stops_all(tmp_path: Path, columns: int) -> None:
    with model_server(latency=0.4) as server:
        terminal = Terminal(evaluation(tmp_path, server), columns=columns)

        def frames() -> list[int]:
            return [
                int(done) for done in re.findall(rf"(\d+)/{40 * CLIPS}\b", terminal.written.decode(errors="ignore"))
            ]

        wait_for(lambda: len(set(frames())) > 3 or terminal.process.poll() is not None or None, 120)
        shown = frames()
        terminal.process.interrupt()
        status, written = terminal.end()
        asked = server.requests()
    assert len(set(shown)) > 3 and shown == sorted(shown)  # frames came while the judge worked, and they count
    assert re.search(r"one: clip.*/s.*\$0\.\d+", written)
    assert status == 130
    assert "Traceback" not in written and "ERROR" not in written
    assert re.search(
        r"stopped by SIGINT\. \d+ new repl(?:y|ies) kept in the\s+ledger[\s\S]*To\s+resume:\s+evaluation-assets",
        written,
    )
    assert len(asked) < 40 * CLIPS
    assert not any("of the second drop" in json.dumps(each.body) for each in asked)
    assert run_states(tmp_path) == ["CANCELED"]
    logs = list((tmp_path / "home" / "dagster" / "storage").rglob("*.err"))
    assert logs and not any("first judge" in path.read_text() for path in logs)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_paid_for_is_kept_when_the_process_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    with model_server(latency=0.4) as server:
        arguments = evaluation(tmp_path, server)
        command = [sys.executable, "-m", "evaluation_assets.cli", *arguments]
        environment = os.environ | {"TEST_KEY": KEY}
        process = subprocess.Popen(
            command,
            env=environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup it is ignored, and stays so
        )
        wait_for(lambda: len(server.requests()) > 20 or process.poll() or None, 120)
        process.send_signal(number)
        said, complaint = process.communicate(timeout=120)
        asked = len(server.requests())
        subprocess.run(command, env=environment, check=True, capture_output=True)
        all_asked = [each.sha256 for each in server.requests()]
    assert len(all_asked) == len(set(all_asked)) > asked, "no question is asked twice"
    assert process.returncode == 128 + number
    assert said == ""
    (line,) = [line for line in complaint.splitlines() if "first (1 of 2)" not in line]
    kept = re.match(rf"evaluation-assets: stopped by {number.name}\. (\d+) new repl(?:y|ies) kept in the ledger", line)
    assert kept is not None and 20 < int(kept[1]) == asked < 40 * CLIPS, "replies on their way are awaited"
    assert sorted(run_states(tmp_path)) == ["CANCELED", "SUCCESS", "SUCCESS"]


def run_states(tmp_path: Path) -> list[str]:
    with instance_of(Installation.at(str(tmp_path / "home"))) as instance:
        return [run.status.value for run in instance.get_runs()]


def test_without_a_terminal_a_line_comes_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("DAGSTER_HOME", "")
    with model_server(latency=0.1) as server:
        for quiet in ([], ["--quiet"]):
            home = tmp_path / f"quiet{len(quiet)}"
            home.mkdir()
            done = CliRunner().invoke(main, [*evaluation(home, server), *quiet])
            assert done.exit_code == 0, done.output
            lines = re.findall(
                rf"^first \(1 of 2\), \d+ s; one: clip: \d+ of {40 * CLIPS} verdicts, [\d.]+/s",
                done.stderr,
                re.MULTILINE,
            )
            assert bool(lines) != bool(quiet)
            assert not quiet or done.stderr == ""
