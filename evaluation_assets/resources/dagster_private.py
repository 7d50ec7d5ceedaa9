# ruff: noqa: F401  (what is imported here is used elsewhere)
"""What Dagster keeps private and this project cannot do without, each with the reason. No other module imports it.

A test names what a new version of Dagster has renamed or removed.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.resources import files
from subprocess import Popen
from typing import Any

import dagster as dg

# The versions that an asset was made from, for staleness and lineage. Dagster stores them with the outputs of a step
# alone; a run of many drops reports what it has materialised drop by drop, by events, which carry what they are given.
# Asked for in public: https://github.com/dagster-io/dagster/issues/21436
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    DEFAULT_DATA_VERSION,
    NULL_EVENT_POINTER,
    compute_logical_data_version,
    extract_data_version_from_entry,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

# The type of what `define_asset_job` returns, and the way to change its selection: keys with a prefix are other keys.
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

# The one error whose serialised form is what it says of itself: `PlainFailure`.
from dagster._core.errors import DagsterUserCodeProcessError

# The run launcher that a `dagster.yaml` configures, without opening the storage.
from dagster._core.instance.ref import InstanceRef

# The output of steps is copied by processes that Ctrl-C must not reach; where it is kept is Dagster's.
from dagster._core.storage.compute_log_manager import CapturedLogContext

# Its SQLite files: one with the events of all runs, connections that stay open, creation that a killed process cannot
# leave half done.
from dagster._core.storage.event_log import SqlEventLogStorage

# What Dagster keeps of a run that it deletes: checks, and the newest materialisation of each asset.
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, AssetKeyTable, SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
    SqliteEventLogStorageWatchdog,
)

# The output of steps, as above.
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager

# Heartbeats of ended runs are deleted: the interface of the key-value storage can only overwrite them.
from dagster._core.storage.runs.schema import KeyValueStoreTable
from dagster._core.storage.runs.sql_run_storage import SqlRunStorage

# SQLite files, as above.
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import (
    SqliteScheduleStorage,
)
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster_shared.error import SerializableErrorInfo
from dagster_shared.record import replace as replace_record

CHECKS_MISSED = "did not yield or return expected outputs"
"""What Dagster logs at the end of a step whose checks were reported drop by drop; no setting leaves it out."""


class _SaysItself(DagsterUserCodeProcessError):
    def __init__(self, message: str | None) -> None:
        super().__init__(message, user_code_process_error_infos=[])


class PlainFailure(dg.Failure, _SaysItself):
    """A failure that pages of runs show as a sentence: Dagster stores others with all frames that they came through.

    It is of the drop, not of the code, and another attempt would meet it too. `kind` is the name of its class there.
    """

    def __init__(self, description: str, metadata: Mapping[str, Any] | None = None, kind: str = "Failure") -> None:
        super().__init__(description, metadata, allow_retries=False)
        self.user_code_process_error_infos = [SerializableErrorInfo(f"{description}\n", [], kind)]


def keep_handlers(instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """The instance, whose runs leave the log handlers of the program alone.

    At the start of each run Dagster configures the handlers of `python_logs`, also where there are none. That closes
    all that there are: log files of a program end there, and runs in two threads may wait for each other for ever.
    """
    if not instance.get_python_log_dagster_handler_config():
        instance.get_yaml_python_handlers = list  # pyright: ignore[reportAttributeAccessIssue]
    return instance


def migrations() -> str:
    """A digest of the names of Dagster's migrations: without a new one, no table of a new SQLite file has changed."""
    versions = files("dagster") / "_core" / "storage" / "alembic" / "versions"
    names = sorted(each.name for each in versions.iterdir() if each.name.endswith(".py"))
    return sha256("\n".join(names).encode()).hexdigest()[:16]


def run_dev(webserver: str) -> None:
    """Run `dagster dev` with the webserver of another module: it has no option for one."""
    from dagster._cli import dev  # noqa: PLC0415  (only this command needs it)
    from dagster_shared.ipc import open_ipc_subprocess  # noqa: PLC0415

    known = {"dagster_webserver": webserver, "dagster._daemon": "dagster._daemon"}

    def start(command: list[str], **options: Any) -> "Popen[bytes]":
        """Start one of the services; the third word of its command is its module."""
        return open_ipc_subprocess([*command[:2], known[command[2]], *command[3:]], **options)

    dev.open_ipc_subprocess = start  # pyright: ignore[reportPrivateImportUsage]
    dev.dev_command()


def run_webserver(add_to: Callable[[Any], None]) -> None:
    """Run `dagster-webserver` after adding to its application: it has no other way to add middleware."""
    from dagster_webserver import cli  # noqa: PLC0415  (only this command needs it)
    from dagster_webserver.app import create_app_from_workspace_process_context  # noqa: PLC0415

    def application(*arguments: Any, **options: Any) -> Any:
        made = create_app_from_workspace_process_context(*arguments, **options)
        add_to(made)
        return made

    cli.create_app_from_workspace_process_context = application  # pyright: ignore[reportPrivateImportUsage]
    cli.main()
