"""The same call again."""

from evaluation_assets.core.sections.findings.detectors.repeated_calls import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call, part, turn

READ = call("get_order", '{"status": "sent"}', order_id="W21")


def kinds(*turns: dict) -> list[str]:
    return [kind for kind, _ in found(DETECTOR, run(*turns))]


def test_the_same_call_right_after_is_repeated() -> None:
    assert kinds(asked("Where is it?", READ, READ)) == ["repeated_call"]


def test_the_order_of_parameters_does_not_matter() -> None:
    first, again = call("book", "ok", day="Mon", room="1"), call("book", "ok", room="1", day="Mon")
    assert kinds(asked("Book it.", first, again)) == ["repeated_call"]


def test_a_call_after_new_information_is_not_repeated() -> None:
    changed = call("cancel_order", "ok", order_id="W21")
    assert kinds(asked("Where is it?", READ, changed, READ)) == []
    assert kinds(asked("Where is it?", READ), asked("And now?", READ)) == []
    assert kinds(asked("Where is it?", READ, call("get_order", '{"status": "here"}', order_id="W21"))) == []


def test_waiting_is_no_repetition() -> None:
    wait = call("wait_for_build", "running", build="7")
    assert kinds(asked("Build it.", wait, wait)) == []


def test_asking_for_a_state_until_it_is_another_is_no_loop() -> None:
    pending, ready = (call("get_deployment_status", state, id="d-17") for state in ("in progress", "ready"))
    assert kinds(asked("Deploy it.", *[pending] * 6, ready)) == []
    assert kinds(asked("Deploy it.", *[pending] * 6)) == ["loop"]
    assert kinds(asked("Deploy it.", *[pending] * 6), asked("And now?", ready)) == ["loop"]


def test_searches_that_find_nothing_one_after_the_other_are_no_loop() -> None:
    def searched(tool: str) -> list[dict]:
        return [call(tool, error="Error: no matches found", path=f"{number}.txt") for number in range(5)]

    assert kinds(asked("Where is alpha?", *searched("grep"))) == []
    assert kinds(asked("Cancel them.", *searched("cancel_order"))) == ["loop"]


def test_several_steps_three_times_are_one_loop() -> None:
    search, look = call("search", "nothing", query="lamp"), call("open_page", "empty", number=1)
    assert kinds(asked("Find it.", search, look, search, look, search, look)) == ["loop"]


def test_calls_that_fail_alike_in_a_row_are_one_loop_whatever_their_arguments() -> None:
    def failing(number: int, tool: str = "search", said: str = "missing field") -> list[dict]:
        return [call(tool, error=said, query=f"{said} {each}") for each in range(number)]

    assert found(DETECTOR, run(asked("Find it.", *failing(6)))) == [("loop", "missing field")]
    again = call("search", error="missing field", query="lamp")
    assert kinds(asked("Find it.", again, again, again, again)) == ["loop"]
    assert kinds(asked("Find it.", *failing(4), *failing(1))) == ["loop", "repeated_call"]
    assert kinds(asked("Find it.", *failing(3))) == []
    assert kinds(asked("Find it.", *failing(2)), asked("And now?", *failing(3))) == []
    assert kinds(asked("Find it.", *failing(3), READ, call("search", error="missing field"))) == []
    assert kinds(asked("Find it.", *failing(3), *failing(3, said="no such lamp"))) == []
    assert kinds(asked("Find it.", *failing(6, "bash"))) == []
    assert kinds(asked("Find it.", *failing(6, "poll_status"))) == []


def _passed_on(times: int) -> dict:
    said = ("billing", "This is for support."), ("support", "This is for billing.")
    return turn("Refund it.", *(part(agent, text) for _ in range(times) for agent, text in said))


def test_agents_who_send_each_other_the_same_messages_are_in_a_loop() -> None:
    ((kind, evidence),) = found(DETECTOR, run(_passed_on(3)))
    assert (kind, evidence) == ("loop", "This is for support.")
    assert kinds(_passed_on(2)) == []


def test_an_agent_who_asks_the_user_again_is_in_no_loop() -> None:
    assert kinds(*[asked("A lamp.", answer="Which one?")] * 4) == []


def test_messages_without_a_text_are_in_no_loop() -> None:
    assert kinds(turn("Go.", *(part("a", said) for said in ["None"] * 4))) == []
    assert kinds(turn("Go.", *(part("a", said) for said in ["Nothing."] * 4))) == ["loop"]


def test_calls_of_a_batch_bring_no_news_to_each_other() -> None:
    first, other = (call("submit_leave", f'{{"request": {number}}}', day=number) for number in (12, 15))
    assert kinds(asked("Both days off.", first, other, first)) == ["repeated_call"]
    lights = [call("toggle_light", "ok", room=room) for room in ("hall", "bath", "hall")]
    assert kinds(asked("Try the lights.", *lights)) == []
