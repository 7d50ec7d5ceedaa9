"""What `ui` prints of the log of Dagster's services."""

from evaluation_assets.cli.service_log import news

_AT = "\x1b[32m2026-01-01 12:00:00 +0000\x1b[0m - dagster.daemon.SensorDaemon - \x1b[34mINFO\x1b[0m - "
_TICK = f"{_AT}Checking for new runs for sensor: new_drops\n"
_EMPTY = f"{_AT}Sensor notify_failures skipped: Sensor function returned an empty result\n"
_NONE = f"{_AT}Sensor new_drops skipped: 1 drop, none ready to run\n"
_WAITS = f"{_AT}Sensor new_drops skipped: 2 drops, none ready to run; 1 still changing\n"
_OTHER = f"{_AT}Sensor lost_runs skipped: 1 drop, none ready to run\n"
_RUN = f"{_AT}Completed launch of run 1234 for new_drops\n"
_ERROR = "Traceback (most recent call last):\n"


def test_ticks_that_say_nothing_new_are_left_out() -> None:
    said = [_TICK, _NONE, _TICK, _NONE, _EMPTY, _OTHER, _TICK, _WAITS, _TICK, _RUN, _NONE, _ERROR, _ERROR]
    assert list(news(said)) == [_NONE, _OTHER, _WAITS, _RUN, _NONE, _ERROR, _ERROR]
