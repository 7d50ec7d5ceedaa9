"""What makes a signal to stop one line at any moment: its handler comes before all imports, and none loses it."""

import signal
import subprocess
import sys
from pathlib import Path

FIRST = "import sys; import evaluation_assets.cli.__main__; print(*sys.modules, sep='\\n')"

WHILE_IMPORTING = """
import sys
from evaluation_assets.core.system.stop_signals import end_process, handle_signals, interrupt
handle_signals({handler})
sys.path.insert(0, {folder!r})
try:
    import stopped_here
except BaseException:
    sys.exit(3)
"""


def started(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )


def test_nothing_that_takes_time_is_imported_before_signals_are_handled() -> None:
    done = started(FIRST)
    imported = set(done.stdout.split())
    assert {name for name in imported if name.startswith("evaluation_assets")} <= {
        "evaluation_assets",
        "evaluation_assets.cli",
        "evaluation_assets.cli.__main__",
        "evaluation_assets.core",
        "evaluation_assets.core.system",
        "evaluation_assets.core.system.stop_signals",
    }
    assert imported.isdisjoint({"click", "dagster", "pyarrow", "pydantic", "asyncio"})


def test_a_signal_while_a_module_is_imported_ends_the_process_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "stopped_here.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in 'ab': 0\n"
    )
    for handler in ("end_process", "interrupt"):
        done = started(WHILE_IMPORTING.format(handler=handler, folder=str(tmp_path)))
        assert (done.returncode, done.stderr) == (130, "evaluation-assets: stopped by SIGINT.\n"), handler
