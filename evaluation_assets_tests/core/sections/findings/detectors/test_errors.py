"""Failures that nobody takes up."""

from dataclasses import replace

import pytest

from evaluation_assets.core.sections.findings.detectors.errors import DETECTOR
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call, part, ran_code, session, turn


def ignored(trajectory: Trajectory) -> bool:
    """Whether an error was ignored, not only unresolved."""
    return any(kind == "ignored_error" for kind, _ in found(DETECTOR, trajectory))


FAILED = call("cancel_order", error="Error: order is locked", order_id="W21")


@pytest.mark.parametrize("after", [[], [call("get_order", "{}", order_id="W22")]], ids=["at the end", "and goes on"])
def test_a_failure_without_consequence_is_ignored(after: list) -> None:
    ((kind, evidence),) = found(DETECTOR, run(asked("Cancel it.", FAILED, *after, answer="Your order is on its way.")))
    assert kind == "ignored_error"
    assert "locked" in evidence


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("No, there is no user named Zed Quark in the CRM.", []),
        ("Es gibt keinen Benutzer Zed Quark.", []),
        ("没有名为 Zed Quark 的用户。", []),
        ("There is no charge. Zed Quark is a customer since 2020.", ["ignored_error"]),
        ("Zed Quark is not active.", ["ignored_error"]),
    ],
)
def test_what_was_not_found_may_be_the_answer(answer: str, kinds: list[str]) -> None:
    lookup = call("find_user", error="Error: user not found", name="Zed Quark")
    assert [kind for kind, _ in found(DETECTOR, run(asked("Is Zed Quark a user?", lookup, answer=answer)))] == kinds


@pytest.mark.parametrize("characters", [100, 3_000, 30_000])
def test_a_failure_that_is_admitted_at_the_end_of_a_long_answer_is_not_ignored(characters: int) -> None:
    answer = "I looked into this for you. " * (characters // 28) + "Unfortunately the order is locked."
    assert not ignored(run(asked("Cancel it.", FAILED, answer=answer)))


def test_a_failure_at_the_very_end_is_ignored_unless_a_limit_ended_the_run() -> None:
    ended = run(asked("Cancel it.", FAILED, answer=None))
    assert ignored(ended)
    assert not ignored(replace(ended, flags=("step_limit",)))


@pytest.mark.parametrize(
    "answer",
    [
        "Unfortunately the order is locked.",
        "Die Bestellung konnte leider nicht storniert werden.",
        "抱歉，无法取消订单。",
        "No se pudo cancelar.",
    ],
)
def test_a_failure_that_the_agent_speaks_of_is_taken_up(answer: str) -> None:
    assert not ignored(run(asked("Cancel it.", FAILED, answer=answer)))


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        ("Error: Flight HAT001 is sold out", "Flight HAT001 is sold out. Would you like another flight?"),
        ("Error: Flight HAT001 is sold out", "All seats of HAT001 are sold."),
        ("no station", "For Oslo there is no station."),
        ("Error: card declined", "Your card was declined; please give me another card."),
        ("permission denied", "You do not have permission to do that, so nothing was changed."),
        ("Error: insufficient balance", "Your balance is too low for this transfer."),
        ("Error: insufficient balance", "Dafür reicht es nicht: die Balance ist zu niedrig."),
        ("Error: date in the past", "That date lies in the past. Which date do you want instead?"),
        ("B is taken", "Room A is booked (17); B is taken."),
        ("Error: not found", "Only the first was found."),
        (
            "Traceback (most recent call last):\nZeroDivisionError: division by zero",
            "It has no value: one divides by zero.",
        ),
        ("错误：航班已售完", "该航班已经售完。"),
    ],
)
def test_a_failure_is_taken_up_by_an_answer_in_its_own_words(error: str, answer: str) -> None:
    failed = call("act", error=error, x=1)
    assert not ignored(run(asked("Please do it.", failed, answer=answer)))
    assert not ignored(replace(run(asked("Please do it.", failed, answer=None)), final_answer=answer))


@pytest.mark.parametrize(
    ("task", "error", "answer"),
    [
        ("Please do it.", "Error: card declined", "All done, your order is confirmed."),
        ("Please do it.", "Error: insufficient balance", "Your balance is 40 EUR after the transfer."),
        ("Please do it.", "Error: Flight HAT001 is sold out", "You fly with HAT001 on Monday."),
        ("Is there a station in Oslo?", "no station", "The station in Oslo is at the harbour, not in the centre."),
        ("Please do it.", "HTTP 503 Service Unavailable", "The total is 42 EUR."),
    ],
)
def test_an_answer_that_only_names_what_a_failed_call_was_about_takes_up_nothing(
    task: str, error: str, answer: str
) -> None:
    assert ignored(run(asked(task, call("act", error=error, x=1), answer=answer)))


def test_code_that_fails_after_it_has_printed_what_the_agent_goes_on_from_is_not_ignored() -> None:
    printed = "Result 1: Jingoism, extreme patriotism, nationalism; a dictionary. TypeError: not iterable. " * 5
    failed = call("execute_python", error=printed, code="for result in search('word of the day'): print(result)")
    assert not ignored(run(asked("Which?", failed, answer="The word is jingoism, extreme patriotism, a nationalism.")))
    assert ignored(run(asked("Which?", failed, answer="The word of the day is what was to be found.")))


def test_a_tool_that_never_succeeds_is_an_unresolved_error_at_its_last_failure() -> None:
    first = call("cancel_order", error="Error: busy", order_id="W21")
    ((kind, evidence),) = found(DETECTOR, run(asked("Cancel it.", first, FAILED, answer="Sorry, it is locked.")))
    assert (kind, evidence) == ("unresolved_error", "Error: order is locked")


def test_a_tool_that_succeeds_later_or_hands_in_the_work_is_resolved() -> None:
    later = call("cancel_order", order_id="W22")
    assert found(DETECTOR, run(asked("Cancel both.", FAILED, later, answer="Sorry, one is locked."))) == []
    handed_in = call("submit", error="Error: nothing was changed")
    assert found(DETECTOR, run(asked("Do it.", handed_in, answer="I could not do it."))) == []


def test_a_failure_that_is_tried_again_is_taken_up() -> None:
    again = call("cancel_order", order_id="W21", force=True)
    assert found(DETECTOR, run(asked("Cancel it.", FAILED, again, answer="It is cancelled."))) == []


def test_a_search_without_a_match_is_an_answer() -> None:
    nothing = call("bash", error="exit code 1", command="grep -rn lamp src")
    assert found(DETECTOR, run(asked("Is it used?", nothing, answer="It is unused."))) == []


LOOKUP = call("get_order", error="the request timed out", order_id="W2378156")


def test_a_command_that_still_runs_is_no_error_to_take_up() -> None:
    waits = (
        "Serving HTTP on port 8000\n[The command has no new output after 30 seconds. You may wait longer to see more.]"
    )
    for said, is_ignored in ((waits, False), ("Serving HTTP on port 8000\nOSError: it is taken", True)):
        served = call("execute_bash", error=said, command="python3 -m http.server 8000")
        assert ignored(run(asked("Serve the page.", served, answer="The page is complete."))) is is_ignored


def test_that_the_agent_cannot_do_what_was_asked_says_nothing_of_a_failed_lookup() -> None:
    refused = "Unfortunately, I cannot cancel orders that were sent. I can transfer you to a colleague instead."
    assert ignored(run(asked("Cancel it.", LOOKUP, answer=refused)))
    said = "Unfortunately, I cannot cancel it: the order could not be found, there was an error."
    assert not ignored(run(asked("Cancel it.", LOOKUP, answer=said)))


def test_the_same_lookup_for_another_order_is_no_other_attempt() -> None:
    others = [call("get_order", "open", order_id=order) for order in ("X5550001", "Y7770001", "Z9990001", "Q1110001")]
    assert found(DETECTOR, run(asked("Where are they?", LOOKUP, *others, answer="All are open.")))
    again = call("get_order", "open", order_id="W2378156")
    assert found(DETECTOR, run(asked("Where are they?", LOOKUP, *others, again, answer="All are open."))) == []
    nearly = call("get_order", "open", order_id="#W2378156")
    assert found(DETECTOR, run(asked("Where is it?", LOOKUP, nearly, answer="It is open."))) == []


def test_after_an_outage_another_question_is_no_other_attempt() -> None:
    failed = call("search", error="the request timed out", origin="EWR", to="LAX", date="2024-05-25")
    after = {
        "another": call("search", origin="EWR", to="SFO", date="2024-05-20"),
        "retry": call("search", origin="EWR", to="LAX", date="2024-05-26"),
    }
    kinds = {name: found(DETECTOR, run(asked("Find it.", failed, made))) for name, made in after.items()}
    assert [kind for kind, _ in kinds["another"]] == ["ignored_error"]
    assert kinds["retry"] == []
    refused = call("search", error="no such airport", origin="EWR", to="LAX", date="2024-05-25")
    assert found(DETECTOR, run(asked("Find it.", refused, after["another"]))) == [], "it is corrected"


UNSERVED = call("bash", error="Error: service unavailable, try again later", command="python test_orders.py")


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("All tests pass. I fix the next problem.", "python test_items.py"),
        ("That is the error in the issue; the fix is right.", "cat orders.py"),
    ],
)
def test_work_that_goes_on_after_a_command_that_was_not_run_ignores_it(said: str, command: str) -> None:
    after = call("bash", "ok", command=command) | {"thought": said}
    assert found(DETECTOR, run(asked("Mend it.", UNSERVED, after, answer="Done.")))


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("The service was unavailable, I look at the file.", "cat orders.py"),
        ("The command failed.", "cat orders.py"),
        ("La commande a échoué.", "cat orders.py"),
        ("", "python -m pytest test_orders.py"),
        ("", "timeout 60 python test_orders.py -x"),
    ],
)
def test_a_command_that_was_not_run_is_taken_up(said: str, command: str) -> None:
    after = call("bash", "ok", command=command) | {"thought": said}
    assert found(DETECTOR, run(asked("Mend it.", UNSERVED, after, answer="Done."))) == []


def test_a_search_that_was_not_run_is_no_answer() -> None:
    nothing = call("bash", error="Error: the request timed out", command="grep -rn lamp src")
    assert found(DETECTOR, run(asked("Is it used?", nothing, answer="It is unused.")))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("rm repro.py", "rm: cannot remove 'repro.py': No such file or directory"),
        ("rm a.py && ls repro.py", "ls: cannot access 'repro.py': No such file or directory"),
    ],
)
def test_a_file_that_is_not_there_is_an_answer(command: str, error: str) -> None:
    gone = call("bash", error=error, command=command)
    assert found(DETECTOR, run(asked("Mend it.", gone, call("bash", command="git diff"), answer="Done."))) == []
    denied = call("bash", error="rm: cannot remove 'a.py': Read-only file system", command="rm a.py")
    assert ignored(run(asked("Mend it.", denied, answer="Done.")))


@pytest.mark.parametrize(
    "said",
    [
        "Go isn't available here, so I read the code.",
        "The module is still not being found.",
        "JAVA_HOME is not set, let me look for it.",
        "The file already exists, so I edit it.",
        "As expected, that is no longer accepted.",
    ],
)
def test_more_ways_to_take_up_a_failure(said: str) -> None:
    failed = call("bash", error="Error: status 2", command="make build")
    assert not ignored(
        run(asked("Build it.", failed, call("grep", "a", pattern="b") | {"action": said}, answer="Done."))
    )


def test_what_a_tool_for_thoughts_is_given_takes_up_a_failure() -> None:
    thought = call("think", "", thought="The error says that the price has changed.")
    other = call("calculate", "76", expression="375 - 299")
    assert not ignored(run(asked("Book it.", FAILED, thought, other, answer="Shall I book it for $375?")))


MENDED = {
    "en": "I fixed the bug.",
    "de": "Ich habe den Fehler behoben.",
    "fr": "J'ai corrigé l'erreur.",
    "es": "He corregido el error.",
    "zh": "问题已修复。",
}


@pytest.mark.parametrize("said", [*MENDED.values(), "Fixed.", "It is fixed now.", "I have resolved all the issues."])
def test_that_something_is_mended_takes_up_no_failure_unless_something_was_done(said: str) -> None:
    failed = call("run_checks", error="Error: status 2", suite="orders")
    assert ignored(run(asked("Mend it.", failed, answer=said)))
    edit = call("edit", file_path="src/orders.py", old_string="a", new_string="b")
    assert not ignored(run(asked("Mend it.", failed, edit, answer=said)))
    assert not ignored(run(asked("Mend it.", failed, answer=f"{said} The check of totals still fails.")))


def test_a_file_that_another_tool_edits_is_no_unresolved_error() -> None:
    denied = call("Edit", error="You haven't granted it yet.", file_path="/app/tests/orders.test.ts", old_string="a")
    written = call("Bash", "Done", command="bun -e 'write(\"/app/tests/orders.test.ts\")'")
    read = call("Read", "1 a", file_path="/app/tests/orders.test.ts")
    blocked = "It was not possible to edit the file."
    assert found(DETECTOR, run(asked("Mend it.", denied, written, answer=blocked))) == []
    assert [kind for kind, _ in found(DETECTOR, run(asked("Mend it.", denied, read, answer=blocked)))] == [
        "unresolved_error"
    ]


def test_tests_that_fail_are_an_answer_and_runners_that_do_not_start_are_none() -> None:
    tests = call("bash", error="1 failed, 11 passed", command="pytest -q")
    assert not ignored(run(asked("Mend it.", tests, answer="The rounding is new.")))
    missing = call("bash", error="bash: pytest: command not found", command="pytest -q")
    assert ignored(run(asked("Mend it.", missing, answer="The rounding is new.")))
    said = "11 of 12 tests run."
    assert ignored(run(asked("Mend it.", call("bash", error="status 2", command="make build"), answer=said)))


@pytest.mark.parametrize(
    "said",
    [
        "The search results show that the tower is in Pisa.",
        "Based on the results, I look for Pisa now.",
        "搜索结果显示，塔在比萨。",
        "Die Ergebnisse zeigen, dass der Turm in Pisa steht.",
        "Результаты показывают, что башня в Пизе.",
    ],
)
def test_what_a_result_says_takes_up_no_failed_lookup(said: str) -> None:
    def after(said: str, **failed: str) -> list[str]:
        again = call("search", "Pisa", query="leaning tower city") | {"thought": said}
        steps = [call("search", query="leaning tower", **failed), again]
        return [kind for kind, _ in found(DETECTOR, run(asked("Where is it?", *steps)))]

    assert after(said, error="service unavailable, try again later") == ["ignored_error"]
    assert after(said, error="not found") == ["ignored_error"]
    assert after(said, result="Pisa") == []
    assert after("Let me search for the city.", error="service unavailable, try again later") == []
    assert after("The tool says that the search failed.", error="service unavailable, try again later") == []


def test_a_command_that_failed_says_something() -> None:
    again = call("bash", "ok", command="make lamp") | {"thought": "The output shows where."}
    steps = [call("bash", error="lamp.c:2: mistake", command="make lamp"), again]
    assert found(DETECTOR, run(asked("Build it.", *steps))) == []


def test_a_result_that_is_reported_and_was_none_is_ignored_whatever_the_tool() -> None:
    page = call("browser_search", error="Error: invalid input", query="director of Lamps")
    reported = call("browser_search", "a page", query="Ada Berg director nationality")
    for said, is_ignored in (
        ('The research for "Lamps" indicates that its director is Ada Berg.', True),
        ("I have successfully navigated to the page of Lamps.", True),
        ("The search results show an error, so I will search for the director.", False),
    ):
        assert ignored(run(asked("Whose film?", page, reported | {"thought": said}, answer="Hers."))) is is_ignored


def test_what_does_not_begin_like_the_results_of_a_tool_was_not_run() -> None:
    seen = [call("bash", f"<code>0</code>\n{number}", command=f"cat {number}.py") for number in range(4)]
    failed = call("bash", error="Error: database locked", command="grep -n lamp items.py")
    own = call("bash", error="<code>2</code>\nError: database locked", command="grep -n lamp items.py")
    after = call("bash", "<code>0</code>\nok", command="cat items.py") | {"thought": "I fix the issue on line 28."}
    assert ignored(run(asked("Mend it.", *seen, failed, after, answer="Done.")))
    assert not ignored(run(asked("Mend it.", *seen, own, after, answer="Done.")))


def test_what_another_tool_was_asked_for_is_resolved() -> None:
    failed = call("quick_search", error="status 500", question="nationality of Ada Berg")
    sorry = {"thought": "The quick search failed; I ask the other one."}
    for question, is_resolved in (("Ada Berg's nationality", True), ("lamps of the north", False)):
        other = call("web_search", "She is Dutch.", query=question) | sorry
        assert (found(DETECTOR, run(asked("Where is she from?", failed, other, answer="The Netherlands."))) == []) is (
            is_resolved
        )


@pytest.mark.parametrize("said", ["I may not write.", "There is a discrepancy of 45: I add the fee."])
def test_a_refusal_and_a_discrepancy_are_taken_up(said: str) -> None:
    failed = call("replace_text", error="permission denied", path="a.py")
    assert not ignored(run(asked("Change it.", failed, answer=said)))


def test_work_on_files_takes_up_what_a_command_or_a_file_that_is_missing_said() -> None:
    built = call("bash", error="exit code 1\n" + "pin 4 of J2 is missing a trace\n" * 20, command="make board")
    search = call("grep", "none", pattern="connector")
    edit = call("write", "written", path="board.tsx", content="<board />")
    assert ignored(run(asked("Make a board.", built, search, search, answer="It is made.")))
    assert not ignored(run(asked("Make a board.", built, search, edit, answer="It is made.")))
    missing = call("read", error="File not found: lib/header.ts", path="lib/header.ts")
    for pattern, is_ignored in (("header", False), ("lamp", True)):
        looked = call("grep", "lib/headers.ts", pattern=pattern)
        assert ignored(run(asked("Make a board.", missing, looked, answer="It is made."))) is is_ignored


@pytest.mark.parametrize(
    ("answer", "is_ignored"),
    [
        ("It costs 219; the stock service was not available.", False),
        ("The order system is currently down.", False),
        ("Die Datenbank war leider nicht erreichbar.", False),
        ("A refund is not available for this order.", True),
    ],
)
def test_a_service_that_is_said_not_to_serve_is_no_refusal(answer: str, *, is_ignored: bool) -> None:
    failed = call("get_stock", error="503 Service Unavailable", order_id="W21")
    assert ignored(run(asked("What does it cost?", failed, answer=answer))) == is_ignored


def gravest(trajectory: Trajectory) -> list[tuple[str, str]]:
    """The kinds and severities of errors above `LOW`."""
    findings = DETECTOR.findings(Course(trajectory))
    return [(each.kind, each.severity) for each in findings if each.severity != "LOW"]


SEARCHED = call("search", error="missing query", q="shellite")
GUESS = "It is methyl nitrate."


@pytest.mark.parametrize(
    "others",
    [
        [],
        [call("search", "[]", q="shellite component")],
        [call("search", "No results found.", q="shellite component")],
        [call("python", "exit code: 0\nOutput:\nfound methyl", code="print('found methyl')")],
    ],
    ids=["it only fails", "is empty", "says that it is empty", "echoes its own text"],
)
@pytest.mark.parametrize("said", ["The search fails, and I answer.", "Die Suche gab einen Fehler, ich antworte so."])
def test_an_answer_after_lookups_that_brought_nothing_is_grave(others: list, said: str) -> None:
    answered = run(asked("What is in shellite?", SEARCHED, *others, answer=said))
    assert gravest(replace(answered, final_answer=GUESS)) == [("unresolved_error", "HIGH")]


@pytest.mark.parametrize(
    "answer",
    [
        "I could not find it.",
        "From memory: methyl nitrate.",
        "This is unverified, but it should be methyl nitrate.",
        "Ohne Gewähr, aus dem Gedächtnis: Methylnitrat.",
        "我无法查询，凭记忆是硝酸甲酯。",
        "検索できませんが、記憶では硝酸メチルです。",
        "De mémoire : nitrate de méthyle.",
        "De memoria: nitrato de metilo.",
        "По памяти: метилнитрат.",
    ],
)
def test_an_answer_that_admits_that_nothing_was_found_is_none(answer: str) -> None:
    answered = run(asked("What is in shellite?", SEARCHED, answer="The search gave an error."))
    assert gravest(replace(answered, final_answer=answer)) == []


@pytest.mark.parametrize(
    "other",
    [
        call("search", "Shellite is picric acid.", q="shellite"),
        call("calculate", "42", expression="6 * 7"),
        call("python", error=f"{'Shellite: picric acid. ' * 20}\nTraceback (most recent call last):\n  x\nKeyError: 1"),
        call("python", error=f"Traceback (most recent call last):\n  x\nKeyError: 1\n{'Shellite: an acid. ' * 20}"),
        call("search", None, q="shellite"),
        call("send_note", "{}", text="shellite"),
    ],
    ids=[
        "finds something",
        "computes",
        "prints, then fails",
        "fails, then prints",
        "has no result",
        "changes something",
    ],
)
def test_an_answer_after_any_lookup_that_brought_something_is_none(other: dict) -> None:
    answered = run(asked("What is in shellite?", SEARCHED, other, answer="The search gave an error."))
    assert gravest(replace(answered, final_answer=GUESS)) == []


def test_what_a_user_says_in_a_later_turn_is_something_to_go_on_from() -> None:
    told = run(asked("And?", SEARCHED, answer="There was an error. What do you know?"), asked("An acid.", answer=GUESS))
    assert gravest(replace(told, final_answer=GUESS)) == []


REQUEST = "Please search the archive for the menu of 22 March 2021 and tell me each dish that is on it."
PRINTED = call(
    "python", f"Execution logs:\n{REQUEST}\nLast output from code snippet:\nNone", code=f'print("{REQUEST}")'
)


@pytest.mark.parametrize(
    ("others", "answer", "is_grave"),
    [
        ([], "duck confit", True),
        ([call("python", "None", code="menu = None")], "duck confit", True),
        ([call("get_page", "The menu: shrimp and grits.", url="example.com")], "shrimp", False),
        ([call("search_agent", "The menu has shrimp.", task=REQUEST)], "shrimp", False),
        ([], "I could not find it.", False),
        ([], "This is from memory: duck confit.", False),
    ],
)
def test_an_answer_after_code_that_only_printed_a_request_is_grave(
    others: list, answer: str, *, is_grave: bool
) -> None:
    answered = run(asked("Which dish was on the menu?", PRINTED, *others, answer=answer))
    expected = [("unresolved_error", "HIGH")] if is_grave else []
    assert gravest(replace(answered, final_answer=answer)) == expected


@pytest.mark.parametrize("printed", ["Please wait.", "The sum of all the numbers from one to ten in this list"])
def test_code_that_prints_no_request_is_no_lookup_that_brought_nothing(printed: str) -> None:
    code = call("python", printed, code=f'print("{printed}")')
    assert gravest(replace(run(asked("What is it?", code, answer="55")), final_answer="55")) == []


def test_a_failure_at_which_a_run_without_an_answer_ends_is_not_ignored() -> None:
    failed = call("python", error="NameError: name 'search' is not defined", code="search('trails')")
    said = part("guide", "I look for trails.", call("python", "ok", code="import search"))
    cut = session(turn("Which trail is open?", said, part("guide", None, failed)))
    assert gravest(cut) == []
    assert gravest(replace(cut, final_answer="The trail to the lake.")) == [("ignored_error", "MEDIUM")]
    assert gravest(session(turn("Which trail is open?", part("guide", None, failed)))) == [("ignored_error", "MEDIUM")]


def test_an_error_before_code_that_is_left_to_be_run_is_no_answer_from_nothing() -> None:
    failed = ran_code("detect(DEFAULT)", None, error="ValueError: unknown language")
    left = "This replicates it: unknown language.\n```python\ndetect('en')\n```\nLet's run this updated code."
    assert gravest(replace(run(asked("Why?", failed, answer=left)), final_answer=left)) == []
