"""The limit of a day on what the sensor for new drops may spend: what it does not reach waits for the next day."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.defs import daily_budget, sensors
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.seen_drops import SeenDrops
from evaluation_assets_tests.conftest import KEY, Workspace
from evaluation_assets_tests.defs.test_sensors import Ticker, drops_in
from evaluation_assets_tests.model_judging import Judged, drop_of, installed, judge
from evaluation_assets_tests.model_server import ModelServer

LIMIT = 0.06


@pytest.fixture
def judged(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Judged:
    return limited(tmp_path, instance, server, monkeypatch)


def limited(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Judged:
    """An installation with a judge, and a limit for the day."""
    monkeypatch.setenv("TEST_KEY", KEY)
    home = tmp_path / "home"
    home.mkdir(parents=True)
    (home / "gate.yaml").write_text(f"sensors: {{budget_usd_per_day: {LIMIT}}}")
    return installed(home, instance, judge(server, max_concurrency=4))


SENSOR = {"dagster/sensor_name": "new_drops"}


def run(judged: Judged, request: dg.RunRequest, by: Mapping[str, str] = SENSOR) -> dg.ExecuteInProcessResult:
    """Run what the sensor or a schedule asks for, as the daemon does."""
    return judged.definitions.resolve_job_def("evaluate").execute_in_process(
        partition_key=request.partition_key,
        run_config=dict(request.run_config),
        tags={**by, **request.tags},
        instance=judged.instance,
        raise_on_error=False,
    )


def test_what_the_limit_of_a_day_does_not_reach_waits_for_the_next(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.drop("a", drop_of(8))
    ticker = Ticker(judged)
    ticker.settle()
    judged.drop("a", drop_of(9))
    judged.drop("b", drop_of(1, "of b"))
    ticker.tick()
    ticker.tick()
    (request,) = ticker.requests
    assert request.run_config["ops"]["evaluate_drop"]["config"]["budget_usd"] == LIMIT
    first = run(judged, request)
    ledger = Ledger(judged.home.ledger_url)
    assert 0 < ledger.spent(first.run_id) <= LIMIT
    for name in ("report.md", "report.html"):
        page = " ".join(((judged.home.reports("a") / name).read_text()).split())
        assert re.search(
            r"\d+ verdicts are missing: the budget of the run was used up; new and stale drops may cost \$0\.06"
            r" a day \(UTC\)\.",
            page,
        ), name

    assert ticker.tick() == []
    assert "wait for the next day (UTC): too little is left of $0.06" in ticker.skipped
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    midnight = tomorrow.replace(hour=0, minute=0, second=0, microsecond=0)
    assert daily_budget.left_usd(judged.instance, judged.home, LIMIT, tomorrow) == LIMIT
    (due,) = {each.retry_at for each in SeenDrops(judged.instance).read(drops_in(request)).values()}
    assert due == midnight.timestamp(), "what was left without verdicts is asked for tomorrow"

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return tomorrow

    monkeypatch.setattr(sensors, "datetime", Tomorrow)
    monkeypatch.setattr(sensors.time, "time", tomorrow.timestamp)
    assert len(ticker.tick()) >= 1 and len(ticker.requests) == 1
    assert ticker.requests[0].run_config["ops"]["evaluate_drop"]["config"]["budget_usd"] == LIMIT


def nightly(judged: Judged) -> Sequence[dg.RunRequest]:
    """What the schedule for stale drops asks for."""
    schedule = judged.definitions.resolve_schedule_def("nightly_stale_drops")
    with dg.build_schedule_context(
        instance=judged.instance,
        scheduled_execution_time=datetime(2026, 1, 2),
        repository_def=judged.definitions.get_repository_def(),
        resources={"home": HomeResource(url=str(judged.home.root))},
    ) as context:
        return schedule.evaluate_tick(context).run_requests or []


def test_the_nightly_schedule_shares_what_the_sensor_leaves(
    tmp_path: Path, kept: Workspace, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = limited(tmp_path / "judged", kept.instance, server, monkeypatch)
    judged.drop("a", drop_of(1))
    judged.drop("b", drop_of(1, "of b"))
    first, second = nightly(judged)
    shares = [each.run_config["ops"]["evaluate_drop"]["config"]["budget_usd"] for each in (first, second)]
    assert shares == [LIMIT / 2, LIMIT / 2]

    queued = judged.definitions.resolve_job_def("evaluate")
    tags = {"dagster/schedule_name": "nightly_stale_drops", **first.tags}
    waiting = judged.instance.create_run_for_job(queued, run_config=dict(first.run_config), tags=tags)
    assert daily_budget.left_usd(judged.instance, judged.home, LIMIT, datetime.now(UTC)) == LIMIT / 2, "it may spend it"
    judged.instance.report_run_canceled(waiting)
    assert daily_budget.left_usd(judged.instance, judged.home, LIMIT, datetime.now(UTC)) == LIMIT

    spent = Ledger(judged.home.ledger_url).spent(
        run(judged, second, by={"dagster/schedule_name": "nightly_stale_drops"}).run_id
    )
    assert 0 < spent <= LIMIT / 2
    assert daily_budget.left_usd(judged.instance, judged.home, LIMIT, datetime.now(UTC)) == pytest.approx(LIMIT - spent)
    judged.home.gate_file.write_text("sensors: {budget_usd_per_day: 0}")
    assert nightly(judged) == []


def test_a_limit_that_is_raised_counts_on_the_same_day(judged: Judged) -> None:
    judged.drop("a", drop_of(8))
    judged.drop("b", drop_of(1, "of b"))
    ticker = Ticker(judged)
    ticker.tick()
    ticker.tick()
    spent = Ledger(judged.home.ledger_url).spent(run(judged, ticker.requests[0]).run_id)
    assert ticker.tick() == []
    judged.home.gate_file.write_text("sensors: {budget_usd_per_day: 5}")
    ticker.tick()
    (request,) = ticker.requests
    assert request.run_config["ops"]["evaluate_drop"]["config"]["budget_usd"] == pytest.approx(5 - spent)


def test_what_is_spent_is_taken_from_the_limit(judged: Judged) -> None:
    judged.home.gate_file.write_text("sensors: {budget_usd_per_day: 5}")
    judged.drop("a", drop_of(1))
    ticker = Ticker(judged)
    ticker.tick()
    ticker.tick()
    done = run(judged, ticker.requests[0])
    ledger = Ledger(judged.home.ledger_url)
    spent = ledger.spent(done.run_id)
    assert spent > 0
    assert "a day (UTC)" not in (judged.home.reports("a") / "report.md").read_text()
    assert daily_budget.left_usd(judged.instance, judged.home, 5, datetime.now(UTC)) == pytest.approx(5 - spent)
    assert ledger.spent_since([done.run_id], datetime.now(UTC).timestamp() + 60) == 0
    judged.drop("b", drop_of(1, "of b"))
    ticker.tick()
    ticker.tick()
    config = ticker.requests[0].run_config["ops"]["evaluate_drop"]["config"]
    assert config["budget_usd"] == pytest.approx(5 - spent)
