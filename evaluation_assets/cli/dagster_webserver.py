"""Dagster's webserver, which answers only its own pages: `python -m evaluation_assets.cli.dagster_webserver`.

Its options are those of `dagster-webserver`.
"""

from evaluation_assets.cli.own_pages import OwnPagesOnly
from evaluation_assets.resources.dagster_private import run_webserver

if __name__ == "__main__":
    run_webserver(lambda application: application.add_middleware(OwnPagesOnly))  # outermost: it is added last
