"""What starts evaluations: the sensor on the drops folder and the nightly schedule."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import dagster as dg
import pytest
from upath import UPath

from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.intake.triggers import batches as batching
from evaluation_assets.core.judging.panel import Panel, load_panel
from evaluation_assets.definitions import build_definitions, current_key
from evaluation_assets.defs import sensors
from evaluation_assets.defs.deleted_drops import forget
from evaluation_assets.defs.schedules import nightly_schedule
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import Workspace, record, workspace
from evaluation_assets_tests.core.intake.test_drops import HOSTILE


def drops_in(request: dg.RunRequest) -> list[str]:
    """The drops that a run is asked for."""
    if request.partition_key is not None:
        return [request.partition_key]
    return request.run_config["ops"]["evaluate_drop"]["config"]["drops"]


class Ticker:
    """Evaluates the sensor tick by tick, keeping its cursor, as the daemon does."""

    def __init__(self, installation: Workspace, prefix: Sequence[str] = ()) -> None:
        self.installation = installation
        self.home = HomeResource(url=str(installation.home.root), key_prefix=[*prefix])
        self.cursor: str | None = None
        self.used: set[str] = set()
        self.requests: list[dg.RunRequest] = []
        self.skipped = ""

    def tick(self) -> list[str]:
        """One look; the keys of the drops that are to be run. A run key that was used before starts nothing."""
        with dg.build_sensor_context(
            instance=self.installation.instance,
            cursor=self.cursor,
            resources={"home": self.home},
        ) as context:
            result = sensors.new_drops(context)
        if isinstance(result, dg.SkipReason):
            self.cursor, self.skipped, self.requests = context.cursor, str(result.skip_message), []
            return []
        assert isinstance(result, dg.SensorResult)
        self.cursor = result.cursor
        requests = [request for request in result.run_requests or [] if request.run_key not in self.used]
        self.used |= {request.run_key for request in requests if request.run_key}
        self.requests = requests
        return [drop for request in requests for drop in drops_in(request)]

    def settle(self) -> list[str]:
        """Looks until none asks for more; files have to be at rest between two of them."""
        asked = self.tick()
        while more := self.tick():
            asked += more
        return asked


@pytest.fixture
def ticker(installation: Workspace) -> Ticker:
    return Ticker(installation)


def test_teams_on_one_instance_may_have_drops_of_the_same_name(
    installation: Workspace, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """Each took the file for its own, which was still being written, and neither was evaluated."""
    other = workspace(tmp_path / "other", instance)
    teams = [Ticker(installation, ["one"]), Ticker(other, ["another", "one"])]
    for team, task in zip(teams, "ab", strict=True):
        team.installation.drop("nightly", record(task))
    assert [team.tick() for team in teams] == [[], []], "not yet at rest"
    assert [team.tick() for team in teams] == [["nightly"], ["nightly"]]
    assert [request.tags["evaluation/key_prefix"] for team in teams for request in team.requests] == [
        "one",
        "another/one",
    ]


def test_a_drop_is_run_once_it_is_at_rest(installation: Workspace, ticker: Ticker) -> None:
    installation.drop("suite/a", record())
    assert ticker.tick() == []
    assert ticker.tick() == ["suite/a"]
    assert ticker.settle() == []


@pytest.mark.parametrize("cursor", ["garbage", "null", "[]", '{"drops": 7}', '{"a": {"of_a_later_version": 1}}'])
def test_a_cursor_of_something_else_stops_no_sensor(installation: Workspace, ticker: Ticker, cursor: str) -> None:
    installation.drop("monday", record())
    ticker.cursor = cursor
    assert ticker.settle() == ["monday"]


def test_a_half_written_file_is_left_for_the_next_look(installation: Workspace, ticker: Ticker) -> None:
    path = installation.drop("a", record("1"))
    assert ticker.tick() == []
    assert ticker.skipped.startswith("1 drop, none ready to run; 1 new or still changing")
    path.write_bytes(record("1") + record("2"))
    assert ticker.tick() == []
    assert ticker.tick() == ["a"]
    assert ticker.tick() == [] and ticker.skipped == "1 drop, none new or changed"


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_sidecar_is_the_problem_of_its_drop_alone(
    installation: Workspace, ticker: Ticker, content: bytes
) -> None:
    for name in ("a", "bad", "folder/part", "z"):
        installation.drop(name, record(name))
    drops = Path(installation.home.drops.path)
    (drops / "bad.drop.yaml").write_bytes(content)
    (drops / "folder" / "_drop.yaml").write_bytes(content)
    assert ticker.settle() == ["a", "bad", "folder", "z"]


def test_a_hostile_sidecar_fails_the_run_of_its_drop_by_name(installation: Workspace) -> None:
    installation.drop("bad", record())
    (Path(installation.home.drops.path) / "bad.drop.yaml").write_bytes(HOSTILE["no such day"])
    result = installation.run("bad")
    assert not result.success
    (failure,) = [event for event in result.all_events if event.is_step_failure and event.step_key == "evaluate_drop"]
    assert "bad.drop.yaml" in failure.step_failure_data.error_display_string


def test_content_that_comes_back_is_run_again(installation: Workspace, ticker: Ticker) -> None:
    one, other = record("1"), record("2") + record("3")
    installation.drop("a", one)
    assert ticker.settle() == ["a"]
    installation.drop("a", other)
    assert ticker.settle() == ["a"]
    installation.drop("a", one)
    assert ticker.settle() == ["a"]


def test_a_touched_file_is_not_run_again(installation: Workspace, ticker: Ticker) -> None:
    import os

    path = installation.drop("a", record())
    assert ticker.settle() == ["a"]
    os.utime(path, (1, 1))
    assert ticker.settle() == []


def test_a_removed_drop_that_comes_back_changed_is_run(installation: Workspace, ticker: Ticker) -> None:
    path = installation.drop("a", record("1"))
    assert ticker.settle() == ["a"]
    installation.drop("a", record("22"))
    assert ticker.settle() == ["a"]
    path.unlink()
    assert ticker.settle() == []
    installation.drop("a", record("1"))
    assert ticker.settle() == ["a"]


def test_a_deleted_drop_that_comes_back_as_it_was_is_run(installation: Workspace, ticker: Ticker) -> None:
    path = installation.drop("a", record())
    assert ticker.settle() == ["a"] and installation.run("a").success
    path.unlink()
    forget(installation.instance, "a")
    assert ticker.settle() == [] and not installation.instance.has_dynamic_partition("drops", "a")
    installation.drop("a", record())
    assert ticker.settle() == ["a"]


def test_many_drops_are_taken_over_several_looks(
    installation: Workspace, ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensors, "MAX_RUNS_PER_TICK", 4)
    for number in range(10):
        installation.drop(f"d{number}", record(str(number)))
    looks = [ticker.tick() for _ in range(5)]
    assert [len(look) for look in looks] == [0, 4, 4, 2, 0]
    assert sorted(key for look in looks for key in look) == [f"d{number}" for number in range(10)]


def test_drops_that_were_there_before_the_first_look_are_run(installation: Workspace, ticker: Ticker) -> None:
    path = installation.drop("old", record())
    import os

    os.utime(path, (1_000_000, 1_000_000))
    assert ticker.settle() == ["old"]


def test_a_drop_evaluated_by_the_command_line_is_not_run_again(installation: Workspace, ticker: Ticker) -> None:
    installation.drop("a", record())
    assert installation.run("a").success
    assert ticker.settle() == []
    installation.drop("a", record("other"))
    assert ticker.settle() == ["a"]


def test_a_partition_that_was_removed_while_its_file_stays_is_added_again(
    installation: Workspace, ticker: Ticker
) -> None:
    installation.drop("a", record())
    assert ticker.settle() == ["a"]
    installation.instance.delete_dynamic_partition("drops", "a")
    assert ticker.tick() == []
    assert installation.instance.get_dynamic_partitions("drops") == ["a"]


def test_names_that_clash_do_not_stop_the_others(installation: Workspace, ticker: Ticker) -> None:
    installation.drop("a", record())
    (Path(installation.home.drops.path) / "a.json").write_bytes(record("other"))
    installation.drop("b", record())
    assert sorted(ticker.settle()) == ["a", "b"]


def test_a_rerun_keeps_the_settings_of_the_last_run(installation: Workspace) -> None:
    from evaluation_assets.defs.freshness import run_config_of

    installation.drop("a", record())
    assert installation.run("a", ops={"evaluate_drop": {"config": {"beta_threshold": 3}}}).success
    config = run_config_of(installation.instance, "a")
    assert config["ops"]["evaluate_drop"]["config"] == {"beta_threshold": 3, "on_violation": "flag"}
    assert installation.run("a", **config).success


def nightly(installation: Workspace) -> list[str]:
    schedule = installation.definitions.resolve_schedule_def("nightly_stale_drops")
    with dg.build_schedule_context(
        instance=installation.instance,
        scheduled_execution_time=datetime(2026, 1, 2),
        repository_def=installation.definitions.get_repository_def(),
        resources={"home": HomeResource(url=str(installation.home.root))},
    ) as context:
        requests = schedule.evaluate_tick(context).run_requests or []
    return [drop for request in requests for drop in drops_in(request)]


def test_the_nightly_schedule_runs_stale_drops_only(kept: Workspace) -> None:
    kept.drop("fresh", record("1"))
    kept.drop("changed", record("2"))
    kept.drop("new", record("3"))
    assert kept.run("fresh").success
    assert kept.run("changed").success
    kept.drop("changed", record("44"))
    assert sorted(nightly(kept)) == ["changed", "new"]
    for key in ("changed", "new"):
        assert kept.run(key).success
    assert nightly(kept) == []


def test_many_stale_drops_share_runs(kept: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(kept, monkeypatch, 3)
    for number in range(5):
        kept.drop(f"d{number}", record(str(number)))
    schedule = nightly_schedule("key", "0 2 * * *")
    with dg.build_schedule_context(
        instance=kept.instance,
        scheduled_execution_time=datetime(2026, 1, 2),
        repository_def=kept.definitions.get_repository_def(),
        resources={"home": HomeResource(url=str(kept.home.root))},
    ) as context:
        requests = schedule.evaluate_tick(context).run_requests or []
    assert [drops_in(request) for request in requests] == [["d0", "d1", "d2"], ["d3", "d4"], ["measured"]]


def test_a_drop_is_stale_when_it_would_be_judged_differently(installation: Workspace) -> None:
    from evaluation_assets.defs.freshness import stale

    installation.drop("a", record())
    assert installation.run("a").success
    drop = find(installation.home.drops, "a")
    assert list(stale(installation.instance, installation.home, [drop], current_key(installation.home, Panel()))) == []
    assert list(stale(installation.instance, installation.home, [drop], "another key")) == [drop]


def test_a_new_judge_is_asked_by_the_nightly_schedule_and_by_no_automation_condition(kept: Workspace) -> None:
    kept.drop("a", record())
    assert kept.run("a").success
    (Path(str(kept.home.root)) / "my_checks.py").write_text(
        "from evaluation_assets.judging import Subject, judge\n\n\n"
        '@judge(level="trajectory", criterion="style.short")\n'
        "def short(run: Subject) -> bool:\n    return len(run.text) < 400\n"
    )
    panel = Path(str(kept.home.root)) / "panel.yaml"
    panel.write_text(
        "judges:\n  - {name: rules, provider: rules}\n"
        "  - {name: short, provider: python, function: 'my_checks:short'}\n"
    )
    judged = Workspace(kept.home, build_definitions(kept.home, load_panel(UPath(panel))), kept.instance)
    assert not any(spec.automation_condition for spec in judged.definitions.resolve_all_asset_specs())
    assert nightly(judged) == ["a"]
    assert judged.run("a").success
    assert {row["judge"] for row in judged.rows("a", "trajectory_verdicts", "short")} == {"short"}
    assert nightly(judged) == []


@pytest.mark.parametrize("version", ["regression.REGRESSION_VERSION", "reviewing.REVIEWING_VERSION"])
def test_a_raised_version_makes_drops_stale(kept: Workspace, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    kept.drop("a", record())
    assert kept.run("a").success
    assert nightly(kept) == []
    monkeypatch.setattr(f"evaluation_assets.defs.{version}", "raised")
    raised = Workspace(kept.home, build_definitions(kept.home, Panel()), kept.instance)
    assert nightly(raised) == ["a"]


@pytest.mark.parametrize("text", ["gate: {delta: 0.1}", "review: {min_kappa: 0.5}"])
def test_settings_that_a_report_depends_on_make_drops_stale(kept: Workspace, text: str) -> None:
    kept.drop("a", record())
    assert kept.run("a").success
    assert nightly(kept) == []
    kept.home.gate_file.write_text(text)
    changed = Workspace(kept.home, build_definitions(kept.home, Panel()), kept.instance)
    assert nightly(changed) == ["a"]
    kept.home.gate_file.write_text('schedules: {nightly: "0 1 * * *"}')
    assert nightly(Workspace(kept.home, build_definitions(kept.home, Panel()), kept.instance)) == []


def test_a_schedule_of_twice_a_day_asks_twice(kept: Workspace) -> None:
    """Dagster starts no second run for a key."""
    schedule = nightly_schedule("key", "0 2,14 * * *")
    kept.drop("a", record("a"))
    repository = build_definitions(kept.home, Panel()).get_repository_def()
    keys = set[str | None]()
    for hour in (2, 14):
        with dg.build_schedule_context(
            instance=kept.instance,
            scheduled_execution_time=datetime(2026, 1, 2, hour),
            repository_def=repository,
            resources={"home": HomeResource(url=str(kept.home.root))},
        ) as context:
            keys |= {request.run_key for request in schedule.evaluate_tick(context).run_requests or []}
    assert len(keys) == 2


def test_a_night_has_a_limit(kept: Workspace) -> None:
    schedule = nightly_schedule("key", "0 2 * * *", limit=2)
    for name in "abc":
        kept.drop(name, record(name))
    with dg.build_schedule_context(
        instance=kept.instance,
        scheduled_execution_time=datetime(2026, 1, 2),
        repository_def=build_definitions(kept.home, Panel()).get_repository_def(),
        resources={"home": HomeResource(url=str(kept.home.root))},
    ) as context:
        requests = schedule.evaluate_tick(context).run_requests or []
    assert [request.partition_key for request in requests] == ["a", "b"]


def test_the_sensor_runs_by_default_and_the_schedule_does_not(installation: Workspace) -> None:
    assert sensors.new_drops.default_status == dg.DefaultSensorStatus.RUNNING
    schedule = installation.definitions.resolve_schedule_def("nightly_stale_drops")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED


def test_the_cursor_does_not_grow_with_the_drops(installation: Workspace, ticker: Ticker) -> None:
    for number in range(60):
        installation.drop(f"suite/d{number}", record(str(number)))
    sizes = [len(ticker.cursor or "") for _ in range(22) if ticker.tick() is not None]
    assert max(sizes) < 300 * sensors.MAX_RUNS_PER_TICK
    assert sizes[-1] == len("{}")
    assert ticker.tick() == []


def measured(installation: Workspace, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let so many drops share a run, by the time that one took."""
    installation.drop("measured", record())
    assert installation.run("measured").success
    (record_of_run,) = installation.instance.get_run_records()
    assert record_of_run.start_time and record_of_run.end_time
    seconds = record_of_run.end_time - record_of_run.start_time
    monkeypatch.setattr(batching, "RUN_SECONDS", (size + 0.5) * seconds)


def test_many_drops_share_runs_by_what_a_drop_takes(
    installation: Workspace, ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(installation, monkeypatch, 8)
    for number in range(30):
        installation.drop(f"d{number:02}", record(str(number)))
    looks = [ticker.tick(), ticker.tick()]
    sizes = [[len(drops_in(request)) for request in ticker.requests]]
    assert all(request.partition_key is None for request in ticker.requests)
    looks.append(ticker.tick())
    sizes.append([len(drops_in(request)) for request in ticker.requests])
    assert sizes == [[8, 8, 8], [6]]
    assert [drop for look in looks for drop in look] == [f"d{number:02}" for number in range(30)]


def test_a_run_of_many_drops_has_what_all_of_them_have_in_common(
    installation: Workspace, ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(installation, monkeypatch, 20)
    for name in ("one/a", "two/b", "one/c", "two/d", "one/kept", "one/kept too"):
        installation.drop(name, record(name))
    for name in ("one/kept", "one/kept too"):
        assert installation.run(name, ops={"evaluate_drop": {"config": {"beta_threshold": 3}}}).success
        installation.drop(name, record("changed"))
    ticker.tick()
    ticker.tick()
    asked = {tuple(drops_in(request)): request for request in ticker.requests}
    assert set(asked) == {("one/a", "one/c"), ("one/kept", "one/kept too"), ("two/b", "two/d")}
    for drops, request in asked.items():
        assert request.tags["evaluation/suite"] == drops[0].split("/")[0]
        config = request.run_config["ops"]["evaluate_drop"]["config"]
        assert config.get("beta_threshold") == (3 if "one/kept" in drops else None)


def test_a_new_drop_does_not_wait_for_a_backlog(
    installation: Workspace, ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(installation, monkeypatch, 2)
    for number in range(20):
        installation.drop(f"d{number:02}", record(str(number)))
    ticker.tick()
    assert len(ticker.tick()) == 6
    installation.drop("z", record("new"))
    ticker.tick()
    assert ticker.tick()[0] == "z"
    assert ticker.requests[0].tags["dagster/priority"] == "1"
    assert "dagster/priority" not in ticker.requests[1].tags


def test_runs_that_a_tick_did_not_launch_are_asked_for_again(installation: Workspace, ticker: Ticker) -> None:
    installation.drop("a", record())
    ticker.tick()
    before = ticker.cursor
    assert ticker.tick() == ["a"]
    ticker.cursor, ticker.used = before, set()  # the daemon was killed before it launched the run and kept the cursor
    assert ticker.tick() == ["a"]
    assert ticker.settle() == []


def test_what_was_evaluated_is_not_run_again_when_the_sensor_has_forgotten_it(
    installation: Workspace, ticker: Ticker
) -> None:
    installation.drop("a", record())
    assert installation.run("a").success
    forgetful = Ticker(installation)
    assert forgetful.settle() == []
    assert ticker.settle() == []


def test_many_drops_are_remembered(installation: Workspace) -> None:
    from evaluation_assets.core.intake.triggers.new_drops import Seen
    from evaluation_assets.resources.seen_drops import SeenDrops

    memory = SeenDrops(installation.instance)
    first = {f"d{number}": Seen(stamp=str(number)) for number in range(501)}
    memory.write(first)
    more = {f"d{number}": Seen(stamp="new", generation=1) for number in range(400, 900)}
    memory.write(more)
    assert memory.read([*first, *more, "unknown"]) == first | more
