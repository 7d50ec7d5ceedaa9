"""Functions of the user's own as judges: what they see, what they may return, and what their failures look like."""

import asyncio
from pathlib import Path
from textwrap import dedent

import pytest
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judge, Judgement, judge_chains
from evaluation_assets.core.judging.own.view import SubjectView, view_of
from evaluation_assets.core.judging.panel import InvalidPanel, judges_of, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import Chain, Subject, category_chain, clip_chain, trajectory_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.conftest import KEY

EXAMPLE = Path(__file__).parents[4] / "examples" / "own_judge"


def trajectories(file: Path = EXAMPLE / "support.jsonl") -> list[Trajectory]:
    read = read_trajectories([DropFile(UPath(file), file.name)], UnmappedFields())
    return [each for each in read if isinstance(each, Trajectory)]


def chains(count: int = 3) -> list[Chain]:
    rubrics = load_rubrics()
    return [trajectory_chain(each, clips_of(each), rubrics) for each in trajectories()[:count]]


def own(folder: Path, source: str, function: str = "my_checks:check", **more: object) -> Judge:
    """The judge of a panel next to a module with this source."""
    (folder / "my_checks.py").write_text(dedent(source))
    settings = "".join(f", {name}: {value}" for name, value in more.items())
    (folder / "panel.yaml").write_text(f"judges: [{{name: own, provider: python, function: '{function}'{settings}}}]")
    return judges_of(load_panel(UPath(folder / "panel.yaml")), "sqlite://")[0]


def judged(judge: Judge, given: list[Chain]) -> list[Judgement]:
    async def all_of_them() -> list[Judgement]:
        async with judge.opened("run", Budget()) as ready:
            return [each async for some in judge_chains(ready, judge.selection.chains(given)) for each in some]

    return asyncio.run(all_of_them())


def verdict(folder: Path, source: str, timeout_s: float = 60) -> Verdict:
    (found,) = judged(own(folder, source, timeout_s=timeout_s), chains(1))
    return found.verdict


def test_the_example_judges_trajectories_and_answers() -> None:
    _, refunds, length = judges_of(load_panel(UPath(EXAMPLE / "panel.yaml")), "sqlite://")
    found = judged(refunds, chains())
    assert [(each.subject.level, dict(each.verdict.scores)) for each in found] == [
        ("trajectory", {"refund_has_order_id": 1.0}),
        ("trajectory", {"refund_has_order_id": 0.0}),
        ("trajectory", {"refund_has_order_id": 1.0}),
    ]
    found = judged(length, chains())
    assert [(each.subject.level, each.verdict.scores["answer_length"]) for each in found] == [
        ("answer", 1.0),
        ("answer", 1.0),
        ("answer", pytest.approx(1 / 3)),
    ]
    assert found[0].verdict.reasoning == "answer_length: 7 words; 40 or fewer get the full score"


@pytest.mark.parametrize(
    ("body", "outcome", "scores"),
    [
        ("return True", "scored", {"check": 1.0}),
        ("return False", "scored", {"check": 0.0}),
        ("return 0.25", "scored", {"check": 0.25}),
        ("return None", "abstained", {"check": None}),
        ("import numpy; return numpy.bool_(True)", "scored", {"check": 1.0}),
        ("import numpy; return Score(numpy.float32(0.25))", "scored", {"check": 0.25}),
        ("import numpy; return numpy.ones(2)", "failed", {"check": None}),
        ("return Score(0.5, 'half')", "scored", {"check": 0.5}),
        ("return [Score(1, criterion='a'), Score(None, criterion='b')]", "scored", {"a": 1.0, "b": None}),
        ("return 7", "failed", {"check": None}),
        ("return float('nan')", "failed", {"check": None}),
        ("return 'yes'", "failed", {"check": None}),
        ("return []", "failed", {"check": None}),
        ("return [Score(1), Score(0)]", "failed", {"check": None}),
    ],
)
@pytest.mark.parametrize("define", ["def", "async def"])
def test_what_a_check_returns_becomes_scores_or_a_failure(
    tmp_path: Path, body: str, outcome: str, scores: dict[str, float | None], define: str
) -> None:
    found = verdict(tmp_path, f"from evaluation_assets.judging import Score\n{define} check(run):\n    {body}\n")
    assert (found.outcome, dict(found.scores)) == (outcome, scores)
    assert (found.error_kind == "out_of_range") == (outcome == "failed")


def test_a_number_outside_the_scale_is_named_in_the_reason(tmp_path: Path) -> None:
    error = verdict(tmp_path, "def check(run): return 7").error
    assert error == "the check returned 7 for check, which is outside the scale of 0 to 1"


def test_an_exception_is_a_failure_with_a_masked_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    source = """
        import os

        def helper():
            raise LookupError("refused: " + os.environ["MY_API_KEY"])

        def check(run):
            return helper()
    """
    found = verdict(tmp_path, source)
    assert (found.outcome, found.error_kind, dict(found.scores)) == ("failed", "internal", {"check": None})
    assert found.error is not None
    assert found.error.startswith(f'File "{tmp_path / "my_checks.py"}", line 8, in check')
    assert found.error.endswith("LookupError: refused: [masked]")
    assert KEY not in found.error


def test_the_error_of_a_check_that_exits_has_no_frames_of_others(tmp_path: Path) -> None:
    found = verdict(tmp_path, "def check(run): raise SystemExit")
    assert (found.error_kind, found.error) == ("internal", "RuntimeError: the function raised SystemExit")


def test_a_long_message_is_cut(tmp_path: Path) -> None:
    error = verdict(tmp_path, "def check(run): raise ValueError('x' * 1_000_000)").error
    assert error is not None
    assert error.startswith("ValueError: xxx")
    assert len(error) < 5000


@pytest.mark.parametrize(
    "source",
    ["import time\ndef check(run): time.sleep(30)", "import asyncio\nasync def check(run): await asyncio.sleep(30)"],
)
def test_a_check_that_hangs_is_given_up(tmp_path: Path, source: str) -> None:
    found = verdict(tmp_path, source, timeout_s=0.2)
    assert (found.outcome, found.error_kind) == ("failed", "timeout")
    assert found.error == "the check gave no result in 0.2 s"


def test_a_timeout_inside_a_check_is_its_own(tmp_path: Path) -> None:
    found = verdict(tmp_path, "async def check(run): raise TimeoutError('no answer from the shop')")
    assert found.error_kind == "internal"
    assert "no answer from the shop" in (found.error or "")


@pytest.mark.parametrize("kind", ["asyncio", "threading"])
def test_checks_run_concurrently(tmp_path: Path, kind: str) -> None:
    """Three subjects wait for each other: one after the other they would never pass the barrier."""
    wait = {
        "asyncio": "barrier = asyncio.Barrier(3)\nasync def check(run):\n    await barrier.wait()\n    return True",
        "threading": "barrier = threading.Barrier(3)\ndef check(run):\n    barrier.wait()\n    return True",
    }[kind]
    found = judged(own(tmp_path, f"import {kind}\n{wait}", timeout_s=20), chains())
    assert [each.verdict.outcome for each in found] == ["scored"] * 3


def test_a_slow_function_does_not_block_the_event_loop(tmp_path: Path) -> None:
    judge = own(tmp_path, "import time\nseen = []\ndef check(run):\n    time.sleep(1)\n    return True")

    async def ticks() -> int:
        working = asyncio.create_task(judge.judge(chains(1)[0].subjects[0], []))
        count = 0
        while not working.done():
            await asyncio.sleep(0.01)
            count += 1
        return count

    assert asyncio.run(ticks()) > 5


def test_the_version_is_the_content_of_the_file(tmp_path: Path) -> None:
    first = own(tmp_path, "def check(run): return True")
    again = own(tmp_path, "def check(run): return True")
    assert first.version == again.version
    changed = own(tmp_path, "def check(run): return False")
    assert changed.version != first.version
    (found,) = judged(changed, chains(1))
    assert dict(found.verdict.scores) == {"check": 0.0}, "the changed function is the one that runs"


def test_panels_in_two_folders_have_modules_of_the_same_name(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    one = own(folders[0], "def check(run): return True")
    other = own(folders[1], "def check(run): return False")
    assert [judged(each, chains(1))[0].verdict.scores["check"] for each in (one, other)] == [1.0, 0.0]


def test_a_module_imports_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_checks.py").write_text("LIMIT = 0.75")
    assert verdict(tmp_path, "from neighbour_of_checks import LIMIT\ndef check(run): return LIMIT").scores == {
        "check": 0.75
    }


def test_levels_in_the_panel_replace_those_of_the_function(tmp_path: Path) -> None:
    source = "from evaluation_assets.judging import judge\n@judge(level='clip')\ndef check(run): return True"
    assert own(tmp_path, source).selection.levels == {"clip"}
    assert own(tmp_path, source, levels="[answer, session]").selection.levels == {"answer", "session"}


@pytest.mark.parametrize(
    ("source", "function", "message"),
    [
        ("", "my_checks:check", "module my_checks has no function check"),
        ("def check(", "my_checks:check", "module my_checks cannot be imported \\(SyntaxError"),
        ("raise OSError('no shop')", "my_checks:check", "cannot be imported \\(OSError: no shop\\)"),
        ("import no_such_module_here", "my_checks:check", "No module named 'no_such_module_here'"),
        ("", "elsewhere:check", "there is no module elsewhere in .*, and none is installed"),
        ("def success(run): return True", "my_checks:success", "a metric has the name success"),
        ("", "time:sleep", "its source file cannot be found"),
        ("", "nobody", "no installed package registers 'nobody' in evaluation_assets.judges"),
        (
            "from evaluation_assets.judging import judge\n@judge(level='clips')\ndef check(run): return 1",
            "my_checks:check",
            "unknown level 'clips'; choose one of: clip, category",
        ),
    ],
)
def test_a_function_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, source: str, function: str, message: str
) -> None:
    with pytest.raises(InvalidPanel, match=message):
        own(tmp_path, source, function)


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("provider: python", "provider python needs a function"),
        ("provider: rules, function: 'a:b'", "provider rules takes no function"),
        ("provider: python, function: 'a:b', repeats: 2", "provider python is deterministic; remove repeats"),
        ("provider: openai, parameters: {messages: [], model: m}", "remove messages, model"),
        ("provider: openai, model: ''", "model: must have at least 1 character"),
        (f"provider: rules, name: {'a' * 101}", "a name has at most 100 characters"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(tmp_path: Path, judge: str, message: str) -> None:
    (tmp_path / "panel.yaml").write_text(
        f"judges: [{{{judge}}}]" if "name:" in judge else f"judges: [{{name: own, {judge}}}]"
    )
    with pytest.raises(InvalidPanel, match=message):
        load_panel(UPath(tmp_path / "panel.yaml"))


def view(subjects: tuple[Subject, ...], level: str) -> SubjectView:
    return next(view_of(subject) for subject in subjects if subject.level == level)


def test_a_subject_shows_its_own_calls_and_text() -> None:
    (run, *_), rubrics = trajectories(), load_rubrics()
    clips = clips_of(run)
    whole = view(trajectory_chain(run, clips, rubrics).subjects, "trajectory")
    assert [(call.name, call.arguments) for call in whole.calls] == [
        ("find_order", {"order_id": "4711"}),
        ("refund", {"order_id": "4711", "amount": 20}),
    ]
    assert whole.results == ('{"status": "delivered"}', '{"ok": true}')
    assert (whole.task, whole.answer) == (run.task, "I refunded 20 euros for order 4711.")
    assert whole.text == run.text
    assert whole.duration_s == 1.0
    clip = view(clip_chain(run, clips, rubrics).subjects, "clip")
    assert [call.name for call in clip.calls] == ["find_order"]
    assert clip.text == clips[0].content
    category = view(category_chain(run, clips, rubrics).subjects, "category")
    assert (category.name, [call.name for call in category.calls]) == ("find_order", ["find_order"])
    assert view(trajectory_chain(run, clips, rubrics).subjects, "answer").text == whole.answer


def test_a_session_shows_its_messages_part_by_part() -> None:
    (session, *_) = trajectories(Path(__file__).parents[4] / "examples" / "sessions" / "teams.json")
    subjects = session_chain(session, load_rubrics()).subjects
    whole = view(subjects, "session")
    assert whole.messages[0].role == "user"
    assert whole.messages[0].text == session.turns[0].user_message
    assert {message.agent for message in whole.messages if message.role == "agent"} <= {a.id for a in session.agents}
    turns = [view_of(subject) for subject in subjects if subject.level == "turn"]
    assert tuple(message for turn in turns for message in turn.messages) == whole.messages
    parts = [view_of(subject) for subject in subjects if subject.level == "interaction"]
    assert tuple(call for part in parts for call in part.calls) == whole.calls
    assert all(len({call.agent for call in part.calls}) <= 1 for part in parts)
