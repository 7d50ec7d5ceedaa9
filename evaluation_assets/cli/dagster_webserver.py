"""Dagster's webserver, which answers only its own pages: `python -m evaluation_assets.cli.dagster_webserver`.

Its options are those of `dagster-webserver`, which has none for this, and no other way to add to its application.
"""

from typing import Any

from dagster_webserver import cli
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.applications import Starlette

from evaluation_assets.cli.own_pages import OwnPagesOnly


def _application(*arguments: Any, **options: Any) -> Starlette:
    application = create_app_from_workspace_process_context(*arguments, **options)
    application.add_middleware(OwnPagesOnly)  # outermost: it is added last
    return application


if __name__ == "__main__":
    cli.create_app_from_workspace_process_context = _application  # pyright: ignore[reportPrivateImportUsage]
    cli.main()
