"""Edits, and the evidence that they were undone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.coding_work.edits import EditLog
from evaluation_assets.core.sections.coding_work.patches import Change
from evaluation_assets.core.sections.coding_work.shell import effects_of
from evaluation_assets_tests.coding_sessions import ClaudeSession, CodexSession, work_of

APP = "/home/ada/shop/app.py"


def _edited() -> ClaudeSession:
    return ClaudeSession().user("Fix the total.").edit(APP, "a = 1", "a = 2").edit(APP, "b = 1", "b = 2")


def test_edits_that_stand_are_not_undone(tmp_path: Path) -> None:
    work = work_of(tmp_path, _edited().says("Done."))
    assert (work.edits, work.edits_undone, work.files) == (2, 0, (APP,))


def test_a_text_that_is_replaced_back_is_undone_and_the_way_back_is_no_edit(tmp_path: Path) -> None:
    work = work_of(tmp_path, _edited().edit(APP, "a = 2", "a = 1"))
    assert (work.edits, dict(work.undone_by)) == (2, {"replaced_back": 1})


def test_a_text_that_is_replaced_back_within_a_longer_one_is_undone(tmp_path: Path) -> None:
    work = work_of(tmp_path, _edited().edit(APP, "x\na = 2\ny", "x\na = 1\ny"))
    assert dict(work.undone_by) == {"replaced_back": 1}


def test_an_edit_that_goes_on_from_another_undoes_nothing(tmp_path: Path) -> None:
    work = work_of(tmp_path, _edited().edit(APP, "a = 2", "a = 3"))
    assert (work.edits, work.edits_undone) == (3, 0)


def test_a_file_that_returns_to_an_earlier_content_has_all_later_edits_undone(tmp_path: Path) -> None:
    new = "/home/ada/shop/new.py"
    session = ClaudeSession().user("Go.").write(new, "one").write(new, "two", existed=True).edit(new, "two", "three")
    work = work_of(tmp_path, session.write(new, "one", existed=True))
    assert (work.edits, dict(work.undone_by)) == (3, {"replaced_back": 2})


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- app.py",
        "git checkout app.py",
        "git checkout HEAD -- app.py",
        "git restore app.py",
        "git restore .",
        "git checkout .",
        "git reset --hard",
        "git stash",
        "cd /home/ada/shop && git restore app.py",
        "git -C /home/ada/shop checkout -- app.py",
    ],
)
def test_what_git_restores_is_undone(tmp_path: Path, command: str) -> None:
    work = work_of(tmp_path, _edited().bash(command))
    assert dict(work.undone_by) == {"restored": 2}


@pytest.mark.parametrize(
    "command",
    [
        "git restore --staged app.py",
        "git checkout other.py",
        "git checkout -b fix",
        "git reset --soft HEAD~1",
        "git stash list",
        "git stash && git stash pop",
        "git diff --quiet || git checkout -- app.py",
        "git diff app.py",
        "echo 'git checkout -- app.py'",
        "git commit -am 'Fix' && git checkout -- app.py",
    ],
)
def test_other_commands_undo_nothing(tmp_path: Path, command: str) -> None:
    assert work_of(tmp_path, _edited().bash(command)).edits_undone == 0


def test_a_command_that_failed_undoes_nothing(tmp_path: Path) -> None:
    work = work_of(tmp_path, _edited().bash("git checkout -- app.py", "error: pathspec", code=1))
    assert work.edits_undone == 0


def test_a_stash_that_comes_back_undoes_nothing(tmp_path: Path) -> None:
    assert work_of(tmp_path, _edited().bash("git stash").bash("pytest -q").bash("git stash pop")).edits_undone == 0


def test_a_commit_ends_what_git_can_restore(tmp_path: Path) -> None:
    session = _edited().bash("git add -A && git commit -m Fix").edit(APP, "c = 1", "c = 2").bash("git checkout .")
    work = work_of(tmp_path, session)
    assert (work.edits, dict(work.undone_by)) == (3, {"restored": 1})


def test_git_does_not_restore_a_file_that_is_new(tmp_path: Path) -> None:
    session = ClaudeSession().user("Go.").write("/home/ada/shop/new.py", "x").bash("git checkout .")
    assert work_of(tmp_path, session).edits_undone == 0
    assert dict(work_of(tmp_path, session.bash("git clean -fd")).undone_by) == {"removed": 1}


def test_a_file_that_is_removed_is_undone_also_under_its_new_name(tmp_path: Path) -> None:
    session = ClaudeSession().user("Go.").write("/home/ada/shop/try.py", "x").bash("mv try.py scratch.py")
    assert work_of(tmp_path, session).edits_undone == 0
    assert dict(work_of(tmp_path, session.bash("rm -f scratch.py")).undone_by) == {"removed": 1}


def test_failed_and_denied_edits_are_no_edits(tmp_path: Path) -> None:
    arguments = {"file_path": APP, "old_string": "a", "new_string": "b"}
    session = ClaudeSession().user("Go.").call("Edit", arguments, "String to replace not found.", failed=True)
    work = work_of(tmp_path, session.denied("Edit", arguments))
    assert (work.edits, work.failed_edits, work.denials) == (0, 1, 1)


def test_several_edits_of_one_call_count_each(tmp_path: Path) -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    session = ClaudeSession().user("Go.").call("MultiEdit", {"file_path": APP, "edits": edits}, "Applied 2 edits")
    assert work_of(tmp_path, session).edits == 2


def test_the_hunks_of_a_patch_are_edits_and_its_reverse_undoes_them(tmp_path: Path) -> None:
    hunks = "@@\n x\n-one\n+two\n@@\n-three\n+four\n"
    patch = f"*** Begin Patch\n*** Update File: a.py\n{hunks}*** Add File: b.py\n+new\n*** End Patch"
    back = "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-two\n+one\n*** Delete File: b.py\n*** End Patch"
    assert work_of(tmp_path, CodexSession().user("Go.").patch(patch)).files == (
        "/home/ada/api/a.py",
        "/home/ada/api/b.py",
    )
    work = work_of(tmp_path, CodexSession().user("Go.").patch(patch).patch(back))
    assert (work.edits, dict(work.undone_by)) == (3, {"replaced_back": 1, "removed": 1})


def test_a_patch_in_a_shell_command_is_an_edit(tmp_path: Path) -> None:
    script = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+two\n*** End Patch\nEOF"
    work = work_of(tmp_path, CodexSession().user("Go.").run(script))
    assert (work.edits, work.commands) == (1, 0)


texts = st.text("abc\n", max_size=6)
changes = st.builds(
    Change, st.sampled_from(["a.py", "b.py"]), st.none() | texts, st.none() | texts, is_whole=st.booleans()
)
commands = st.sampled_from(
    ["git checkout .", "git stash", "git stash pop", "rm a.py", "git commit -am x", "mv a.py b.py", "git clean -fd"]
)


@given(st.lists(changes | commands, max_size=20))
def test_never_more_edits_are_undone_than_made(events: list[Change | str]) -> None:
    log = EditLog()
    for position, event in enumerate(events):
        if isinstance(event, str):
            for effects in effects_of(event):
                log.ran(effects)
        else:
            log.changed(event, position, existed=False)
    made = sum(not isinstance(event, str) for event in events)
    assert len([edit for edit in log.edits if edit.undone]) <= len(log.edits) <= made


@given(st.lists(st.tuples(st.integers(0, 3), st.uuids(), st.uuids()), min_size=1, max_size=12), st.randoms())
def test_edits_with_their_exact_reversions_in_any_order_are_all_undone(edits: list[tuple], random) -> None:
    log = EditLog()
    for position, (file, old, new) in enumerate(edits):
        log.changed(Change(f"{file}.py", f"x{old}", f"y{new}"), position, existed=True)
    back = list(edits)
    random.shuffle(back)
    for position, (file, old, new) in enumerate(back, len(edits)):
        log.changed(Change(f"{file}.py", f"y{new}", f"x{old}"), position, existed=True)
    assert len(log.edits) == len(edits)
    assert all(edit.undone == "replaced_back" for edit in log.edits)
