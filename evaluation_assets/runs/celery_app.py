"""The Celery app of workers that execute Dagster runs: `celery -A evaluation_assets.runs.celery_app worker -Q dagster`.

Broker, result backend and settings are those of the run launcher in `$DAGSTER_HOME/dagster.yaml`, so that launcher and
workers cannot differ. Needs the extra `celery`.
"""

import os

from celery import Celery
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tasks import create_execute_job_task, create_resume_job_task

from evaluation_assets.resources.dagster_private import InstanceRef


def worker_app(dagster_home: str) -> Celery:
    """The app of the run launcher that the `dagster.yaml` of a folder configures, with the tasks that execute runs.

    Raises:
        TypeError: the run launcher is another one than `CeleryRunLauncher`.
    """
    launcher = InstanceRef.from_dir(dagster_home).run_launcher
    if not isinstance(launcher, CeleryRunLauncher):
        raise TypeError(
            f"{dagster_home}/dagster.yaml: run_launcher is {type(launcher).__name__}, not CeleryRunLauncher. "
            "Copy dagster.celery.yaml of the package evaluation_assets there."
        )
    create_execute_job_task(launcher.celery)
    create_resume_job_task(launcher.celery)
    return launcher.celery


app = worker_app(os.environ["DAGSTER_HOME"])
