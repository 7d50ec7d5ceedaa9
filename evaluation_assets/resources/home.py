"""The installation as a Dagster resource."""

import dagster as dg

from evaluation_assets.core.home import Home


class HomeResource(dg.ConfigurableResource):
    """Where drops, lake and reports of this code location lie."""

    url: str
    lake_url: str | None = None

    @property
    def home(self) -> Home:
        """The installation."""
        return Home.at(self.url, self.lake_url)
