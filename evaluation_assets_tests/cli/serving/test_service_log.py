"""What `ui` prints of the log of Dagster's services."""

from evaluation_assets.cli.serving.service_log import news

_AT = "\x1b[32m2026-01-01 12:00:00 +0000\x1b[0m - dagster.daemon.SensorDaemon - \x1b[34mINFO\x1b[0m - "
_TICK = f"{_AT}Checking for new runs for sensor: new_drops\n"
_EMPTY = f"{_AT}Sensor notify_failures skipped: Sensor function returned an empty result\n"
_NONE = f"{_AT}Sensor new_drops skipped: 1 drop, none new or changed\n"
_WAITS = f"{_AT}Sensor new_drops skipped: 2 drops, none ready to run; 1 new or still changing\n"
_OTHER = f"{_AT}Sensor lost_runs skipped: 1 drop, none ready to run\n"
_RUN = f"{_AT}Completed launch of run 1234 for new_drops\n"
_ERROR = "Traceback (most recent call last):\n"


def test_ticks_that_say_nothing_new_are_left_out() -> None:
    said = [_TICK, _NONE, _TICK, _NONE, _EMPTY, _OTHER, _TICK, _WAITS, _TICK, _RUN, _NONE, _ERROR, _ERROR]
    assert list(news(said)) == [_NONE, _OTHER, _WAITS, _RUN, _NONE, _ERROR, _ERROR]


def test_what_a_first_start_says_of_itself_is_left_out() -> None:
    daemon = _AT.replace("SensorDaemon", "EventLogConsumerDaemon").replace("INFO", "WARNING")
    skipped = (
        "notify_failure_groups skipped: EVALUATION_NOTIFY_URL is not set; no notifications are sent",
        "parts_of_big_drops skipped: no parts to judge",
        "lost_runs skipped: 0 runs in progress, none lost",
        "notify_failures skipped: Initiating notify_failures. Set cursor to RunStatusSensorCursor(record_id=-1)",
    )
    said = [
        f"{_AT}Instance is configured with the following daemons: ['AssetDaemon']\n",
        f"{daemon}No cursor for event type DagsterEventType.RUN_FAILURE, ignoring older events\n",
        *(f"{_AT}Sensor {each}\n" for each in skipped),
    ]
    assert list(news([*said, _NONE, _OTHER])) == [_NONE, _OTHER]


_STEP = "2026-01-01 12:00:00 +0000 - dagster - ERROR - evaluate - 1234 - evaluate_drop - STEP_FAILURE - failed.\n"
_FAILED = "2026-01-01 12:00:00 +0000 - dagster - ERROR - evaluate - 1234 - RUN_FAILURE - failed.\n"
_FRAMES = ["\n", "Stack Trace:\n", '  File "step.py", line 1, in step\n', "    raise\n", "\n"]
_CAUSE = ["The above exception was caused by the following exception:\n", "UnreadableDrop: no such format\n", *_FRAMES]


def test_a_failure_that_says_what_to_do_is_printed_once_and_without_frames() -> None:
    failure = ["\n", "dagster._core.definitions.events.Failure: no such format; rename it\n", *_FRAMES, *_CAUSE]
    printed = list(news([_STEP, *failure, _FAILED, *failure, _RUN, _FAILED, *failure]))
    assert printed == [_STEP, "\n", "no such format; rename it\n", "\n", _FAILED, "\n", _RUN, _FAILED, "\n"]
    again = [_STEP, *failure, _FAILED, *failure]
    assert list(news([*again, *again])).count("no such format; rename it\n") == 2, "each run says it"


def test_frames_of_any_other_failure_are_printed() -> None:
    failure = ["\n", "ZeroDivisionError: division by zero\n", *_FRAMES]
    assert list(news([_STEP, *failure, _RUN])) == [_STEP, *failure, _RUN]


def test_of_services_that_are_stopped_while_they_start_no_traceback_is_printed() -> None:
    interrupted = [_ERROR, '  File "definitions.py", line 1\n', "KeyboardInterrupt\n", "\n", "Aborted!\n"]
    assert list(news([*interrupted, _RUN], lambda: True)) == [_RUN]
