"""Sessions of others, with figures that were counted by hand, or by whoever recorded them."""

from upath import UPath

from evaluation_assets.core.sections.coding_work.work import CodingWork, coding_work_of
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.third_party import data


def _works(name: str) -> list[CodingWork]:
    files = [DropFile(UPath(data(name)), name)]
    read = format_of(files).read(files, UnmappedFields())
    return [coding_work_of(run) for run in read if isinstance(run, Trajectory)]


def test_openhands() -> None:
    """Its description counts 35 edits, 56 commands and 19 failed ones; one of each is only a wait for output."""
    works = _works("agentdataeva/testv1.json")
    assert [work.edits for work in works] == [2, 2, 7, 6, 7, 11]
    assert [work.commands for work in works] == [4, 5, 7, 17, 8, 14]
    assert sum(work.failed_commands for work in works) == 18
    assert not any(work.edits_undone or work.test_runs or work.corrections for work in works)


def test_mini_swe_agent() -> None:
    """Counted by hand: it edits with `sed -i`, which is no edit of a tool, and reads other lines each time."""
    (work,) = _works("mini-swe-agent/trajs/astropy__astropy-14365.traj.json")
    assert (work.commands, work.failed_commands, work.edits) == (21, 1, 0)
    assert (work.reads, work.repeated_reads) == (4, 0)
    assert [(run.command, run.result) for run in work.test_runs] == [
        ("pytest astropy/io/ascii/tests/test_qdp.py", "passing")
    ]
    (other,) = _works("mini-swe-agent/trajs/astropy__astropy-14598.traj.json")
    assert (other.commands, other.failed_commands, other.reads, other.repeated_reads) == (29, 0, 10, 0)


def test_swe_agent() -> None:
    """It opens one file and replaces one line of it; the call names no file, but its result does."""
    (work,) = _works("swe-agent/6e44b9__sweagenttestrepo-1c2844.traj")
    assert (work.edits, work.failed_edits, work.reads) == (1, 0, 1)
    assert work.files == ("/SWE-agent__test-repo/tests/missing_colon.py",)


def test_gemini_cli() -> None:
    """The agent says that it made a file, but called no tool."""
    (work,) = _works("atif/source-formats/gemini-cli-trajectory.json")
    assert (work.edits, work.commands, work.model) == (0, 0, "gemini-2.0-flash")
