"""A row of a table as Python values, by column."""

from typing import Any

Row = dict[str, Any]
