"""Dagster's webserver, which answers only its own pages: `python -m evaluation_assets.cli.dagster_webserver`.

Its options are those of `dagster-webserver`.
"""

from typing import Any

from evaluation_assets.cli.serving.own_pages import OwnPagesOnly
from evaluation_assets.cli.serving.start_page import OpensWithLineage
from evaluation_assets.resources.dagster_private import run_webserver


def _wrap(application: Any) -> None:
    application.add_middleware(OpensWithLineage)
    application.add_middleware(OwnPagesOnly)  # outermost: it is added last


if __name__ == "__main__":
    run_webserver(_wrap)
