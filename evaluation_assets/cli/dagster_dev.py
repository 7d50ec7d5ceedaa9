"""`dagster dev` with the webserver that answers only its own pages."""

from evaluation_assets.resources.dagster_private import run_dev

if __name__ == "__main__":
    run_dev("evaluation_assets.cli.dagster_webserver")
