"""The folders of an installation."""

from importlib.resources import files as resources

from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.installation import Installation, make_folder


def prepare(home: Installation) -> None:
    """Make the folders of an installation and give Dagster its settings; what is there stays as it is.

    Raises:
        UnusableHome: a folder cannot be created.
    """
    home.make()
    kept = (home.drops, home.suites, home.agents, home.lake, home.root / "reports", home.root / "baselines")
    for folder in (*kept, home.dagster):
        make_folder(folder)
    settings = UPath(home.dagster / "dagster.yaml")
    if not settings.exists():
        publish_bytes(settings, (resources("evaluation_assets") / "dagster.yaml").read_bytes())
