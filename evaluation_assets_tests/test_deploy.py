"""The files for deployments on several machines name what exists: settings, programs, environment, services."""

import re
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation_assets_tests.many_machines import PACKAGES, TEMPLATE

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
needs_packages = pytest.mark.skipif(
    any(find_spec(module) is None for module in PACKAGES), reason="the packages of the extra `dev` are not installed"
)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))


@pytest.fixture
def dagster_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dagster.yaml").write_bytes((files("evaluation_assets") / TEMPLATE).read_bytes())
    monkeypatch.setenv("EVALUATION_DAGSTER_URL", "postgresql+psycopg2://nobody@127.0.0.1:1/dagster")
    monkeypatch.setenv("EVALUATION_BROKER_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    return tmp_path


def settings_of(home: Path) -> dict[str, Any]:
    from dagster._core.instance.config import dagster_instance_config

    return dict(dagster_instance_config(str(home))[0])


@needs_packages
def test_the_settings_are_those_of_an_instance(dagster_home: Path) -> None:
    settings = settings_of(dagster_home)
    assert settings["run_launcher"]["class"] == "CeleryRunLauncher"
    limits = settings["concurrency"]["runs"]["tag_concurrency_limits"]
    assert limits == [{"key": "dagster/partition", "limit": 1, "value": {"applyLimitPerUniqueValue": True}}]


@needs_packages
@pytest.mark.usefixtures("dagster_home")
def test_workers_have_the_settings_of_the_launcher() -> None:
    from evaluation_assets.runs.celery_app import app

    assert app.conf.broker_url == app.conf.result_backend == "redis://127.0.0.1:1/0"
    assert app.conf.worker_max_tasks_per_child == 1
    assert app.conf.task_acks_late is True
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.task_reject_on_worker_lost is False
    assert {"execute_job", "resume_job"} <= set(app.tasks)


@needs_packages
def test_messages_and_states_of_runs_outlive_the_runs(dagster_home: Path) -> None:
    settings = settings_of(dagster_home)
    celery, longest = settings["run_launcher"]["config"]["config_source"], settings["run_monitoring"]
    assert celery["result_expires"] > longest["max_runtime_seconds"]
    assert celery["broker_transport_options"]["visibility_timeout"] > longest["max_runtime_seconds"]


@needs_packages
@pytest.mark.usefixtures("dagster_home")
def test_workers_refuse_settings_with_another_launcher(tmp_path: Path) -> None:
    from evaluation_assets.runs.celery_app import worker_app

    one_server = tmp_path / "one_server"
    one_server.mkdir()
    (one_server / "dagster.yaml").write_bytes((files("evaluation_assets") / "dagster.yaml").read_bytes())
    with pytest.raises(TypeError, match=r"DefaultRunLauncher, not CeleryRunLauncher\. Copy dagster\.celery\.yaml"):
        worker_app(str(one_server))


def test_the_environment_has_what_the_settings_name(compose: dict[str, Any]) -> None:
    template = (files("evaluation_assets") / TEMPLATE).read_text("utf-8")
    named = set(re.findall(r"env: (\w+)", template))
    assert named == {"EVALUATION_DAGSTER_URL", "EVALUATION_BROKER_URL"}
    for service in ("code", "webserver", "daemon", "worker", "prepare"):
        assert (
            named | {"EVALUATION_HOME", "EVALUATION_LEDGER_URL"} <= compose["services"][service]["environment"].keys()
        )


def test_every_variable_of_env_reaches_the_services(compose: dict[str, Any]) -> None:
    """A key with another name than those of the example is named in panel.yaml as well."""
    for service in ("code", "webserver", "daemon", "worker"):
        assert compose["services"][service]["env_file"] == ".env"
    assert ".env" in (ROOT / ".gitignore").read_text("utf-8").splitlines(), "it has the password"


def test_services_run_programs_and_modules_that_exist(compose: dict[str, Any]) -> None:
    services = compose["services"]
    scripts = {script.name for script in entry_points(group="console_scripts")}
    for service in ("code", "webserver", "daemon", "worker"):
        program, *arguments = services[service]["command"].split()
        assert program in scripts | {"python"}
        for module in (argument for argument in arguments if argument.startswith("evaluation_assets.")):
            assert find_spec(module) is not None
    workspace = yaml.safe_load((DEPLOY / "compose" / "workspace.yaml").read_text("utf-8"))
    (server,) = (location["grpc_server"] for location in workspace["load_from"])
    assert services[server["host"]]["command"].startswith(f"dagster api grpc --host 0.0.0.0 --port {server['port']} ")
    for service in ("webserver", "daemon"):
        assert services[service]["command"].endswith("--workspace /srv/dagster/workspace.yaml")
    compile(services["prepare"]["command"][-1], "prepare", "exec")
    for service in services.values():
        assert set(service.get("depends_on", ())) <= services.keys()


def test_as_many_runs_are_started_as_workers_take(compose: dict[str, Any]) -> None:
    worker = compose["services"]["worker"]
    (concurrency,) = re.findall(r"--concurrency (\d+)", worker["command"])
    template = yaml.safe_load((files("evaluation_assets") / TEMPLATE).read_bytes())
    allowed = template["concurrency"]["runs"]["max_concurrent_runs"]
    assert int(concurrency) * worker["deploy"]["replicas"] == allowed


def test_the_image_copies_files_that_exist() -> None:
    lines = (DEPLOY / "compose" / "Dockerfile").read_text("utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)


def test_on_kubernetes_the_same_limits_hold() -> None:
    values = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text("utf-8"))
    daemon = values["dagsterDaemon"]
    template = yaml.safe_load((files("evaluation_assets") / TEMPLATE).read_bytes())
    queued = daemon["runCoordinator"]["config"]["queuedRunCoordinator"]
    assert queued["tagConcurrencyLimits"] == template["concurrency"]["runs"]["tag_concurrency_limits"]
    assert daemon["runRetries"]["maxRetries"] == template["run_retries"]["max_retries"]
    monitoring = template["run_monitoring"]
    assert daemon["runMonitoring"]["startTimeoutSeconds"] == monitoring["start_timeout_seconds"]
    assert daemon["runMonitoring"]["maxRuntimeSeconds"] == monitoring["max_runtime_seconds"]
    module = values["dagster-user-deployments"]["deployments"][0]["dagsterApiGrpcArgs"][-1]
    assert find_spec(module) is not None
