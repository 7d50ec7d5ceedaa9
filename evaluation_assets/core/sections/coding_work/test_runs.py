"""Runs of tests by a coding agent, and their results."""

import re
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.sections.coding_work.shell import Command, commands_of
from evaluation_assets.core.traces.trajectories.model import Span

TestResult = Literal["passing", "failing", "unknown"]
WorkState = Literal["none", "aside", "done"]

_READ = 20_000
"""Characters at the end of an output that are read: runners print their summary last."""

_NO_RUN = (126, 127)
"""Exit codes of a shell that could not start the command."""

_HARMLESS = {"cd", "export", "source", ".", "echo", "set", "pwd", "true", "mkdir"}
"""Commands before the tests that are not what failed."""

_RUNS = re.compile(
    r"(?:\S*/)?(?:"
    r"py\.?test|python[\d.]* -m (?:pytest|unittest|nose2)|(?:python[\d.]* )?(?:\S*/)?manage\.py test|tox|nox|hatch test"
    r"|(?:npm|pnpm|yarn|bun)(?: -\S+(?: (?!run|test)\S+)?)* (?:run )?(?:test[:\w.-]*|t|tst)"
    r"|(?:(?:ba|z)?sh |python[\d.]* )?(?:\S*/)?(?:run[-_]?(?:all[-_]?)?tests?(?:\.(?:sh|py|js))?|bin/test)"
    r"|(?:jest|vitest|mocha|ava|karma)|(?:playwright|deno) test|cypress run|node --test|react-scripts test|ng test"
    r"|turbo (?:run )?test|nx (?:run |affected )?.*test"
    r"|go test|gotestsum|cargo (?:\+\S+ )?(?:test|t|nextest run)|zig (?:build )?test|swift test|ctest|bats"
    r"|(?:g?make|just|task|rake|rails|mix|dotnet|composer|flutter|dart|lein|stack|cabal|bazel|sbt|pub run|phpunit|pest)"
    r"(?: -\S+)* (?:\S+[-_:])?(?:tests?|check|spec)(?:[-_:]\S+)?"
    r"|(?:\./)?(?:mvnw?|gradlew?)\b.*\b(?:test|verify|check|\w+Test)"
    r"|rspec|phpunit|pest|minitest|busted|vendor/bin/(?:phpunit|pest)|xcodebuild .*test"
    r")(?=\s|$)"
)
_MAY_CHECK_ELSE = re.compile(r"\s(?:check|verify)(?=\s|$)")
"""Targets that check more than tests: that they failed says nothing of the tests."""

_ONLY_LISTS = re.compile(r"\s(?:--collect-only|--co|--list-tests|--listTests|--help|--version|--no-run)\b")

_FAILING = re.compile(
    r"(?:^[\s=!]*|[,;:|] *|\x20(?:pass|passed|Tests|Files|with) +)[1-9]\d{0,8} (?:failed|failing|failures?|errors?)"
    r"(?=\s*(?:$|[,;|(=.!\d]|in\b|during\b))|^\s*[1-9]\d{0,8} fail$"
    r"|^FAILED(?: \(| \S)|^FAIL(?!\S| Required test coverage)|^--- FAIL|^test result: FAILED|^FAILURES!"
    r"|^error: (?:test failed|could not compile)|^BUILD (?:FAILED|FAILURE)"
    r"|BUILD FAILURE|\bFailures: [1-9]|\bErrors: [1-9]|^[#ℹ]\s*fail [1-9]|^Failed!\s+- Failed:|^not ok \d"
    r"|^ERROR(?:S)?:? (?:collecting|found)|\*\* TEST FAILED \*\*|[1-9]\d{0,8} tests? failed",
    re.MULTILINE,
)
_PASSING = re.compile(
    r"(?:^|\s|=)[1-9]\d{0,8} (?:passed|passing)\b|^\s*[1-9]\d{0,8} pass$|^OK(?: \(|$)|^ok\s+\S+\s|^PASS$"
    r"|^test result: ok\.|BUILD SUCCESS(?:FUL)?"
    r"|[1-9]\d{0,8} (?:examples?|tests?|runs?|specs?),.*\b0 failures|^[#ℹ]\s*fail 0|^Passed!\s+- Failed:\s+0|^ok \d"
    r"|Tests run: [1-9]\d{0,8}, Failures: 0, Errors: 0|100% tests passed|with 0 failures|congratulations :\)"
    r"|\*\* TEST SUCCEEDED \*\*",
    re.MULTILINE,
)
_NAME = re.compile(
    r"^(?:FAILED|ERROR) (?:\S*::)?(\w\S*)|^_{3,} (?:ERROR at \w+ of )?(\w\S*)[^\n]* _{3,}$"
    r"|^\S+::(\S+) (?:FAILED|ERROR)\b"
    r"|^(?:FAIL|ERROR): (\S+)|^ *--- FAIL: (\S+)|^test (\S+) \.\.\. FAILED|^not ok \d+ (?:- )?(\S[^\n]*)"
    r"|^ *(?:●|✕|✗|✖|×) (\S[^\n]*?)(?: \(?\d[\d.]* ?ms\)?)?$",
    re.MULTILINE,
)
"""How runners name a test that failed."""

_OF_ONE_TEST = re.compile(r"^\s*(?:[✓√✔] |ok \d|--- PASS).*$|^.*::.* PASSED\b.*$", re.MULTILINE)
"""Lines about a test that passed: its name may speak of failures."""

_NOT_STARTED = re.compile(
    r"No module named '?(?:pytest|nose2?|tox)\b|command not found|not recognized as (?:an internal|the name)"
    r"|JAVA_HOME is not|running scripts is disabled|Missing script:"
    r"|^ERROR: (?:file or directory not found|not found: )",
    re.MULTILINE,
)
"""How shells and runners say that no test was run."""

_NONE_RAN = re.compile(
    r"no tests? (?:ran|files? found|to run|found)|\[no test files\]\s*$|^0 passing|Ran 0 tests", re.MULTILINE
)
_PARTS = re.compile(r"::?|\.(?=\w)")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class TestRun:
    """A run of tests: the command line and its result. `position` counts the calls of the session.

    `work` says on what it ran: on files as they were at first (`none`), on changed ones (`done`), or on those from
    which changes were taken back (`aside`).
    """

    __test__ = False  # not a test of ours

    position: int
    command: str
    result: TestResult
    work: WorkState


def runs_tests(line: str) -> bool:
    """Whether a command line runs tests."""
    return any(map(_is_test, commands_of(line)))


def result_of(line: str, output: str, exit_code: int | None) -> TestResult:
    """The result of a command line that runs tests, by its exit code and by the summary that the runner prints.

    The exit code decides where it is that of the tests: not behind a pipe, not if another command may have failed or
    followed. Else the summary decides, if there is one.
    """
    commands = commands_of(line)
    last = max((index for index, command in enumerate(commands) if _is_test(command)), default=None)
    if last is None or exit_code in _NO_RUN:
        return "unknown"
    before, after = commands[:last], commands[last:]
    if exit_code == 0 and all(one.following in ("&&", "") for one in after):
        if any(_is_test(command) for command in before) and summary_of(output) == "failing":
            return "failing"
        return "unknown" if _NONE_RAN.search(output[-_READ:]) else "passing"
    said = summary_of(output)
    words = " ".join(commands[last].words)
    if said == "unknown" and (_NOT_STARTED.search(output[-_READ:]) or _MAY_CHECK_ELSE.search(words)):
        return "unknown"
    if exit_code and len(after) == 1 and all(one.following == ";" or one.words[0] in _HARMLESS for one in before):
        return "failing"
    return said


def summary_of(output: str) -> TestResult:
    """What the summary of a test runner says; `unknown` if an output has none."""
    end = _ANSI.sub("", output[-_READ:])
    if _FAILING.search(_OF_ONE_TEST.sub("", end)):
        return "failing"
    return "passing" if _PASSING.search(end) else "unknown"


def failed_tests(output: str) -> list[tuple[str, Span]]:
    """The tests that an output names as failed, with where the line about each is. Names are without file and class."""
    start = max(0, len(output) - _READ)
    names = ((next(filter(None, named.groups())), named.span()) for named in _NAME.finditer(output, start))
    return [(name if " " in name else _PARTS.split(name)[-1], span) for name, span in names]


def _is_test(command: Command) -> bool:
    words = " ".join(command.words)
    return _RUNS.match(words) is not None and _ONLY_LISTS.search(f" {words}") is None
