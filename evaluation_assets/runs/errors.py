"""Errors of runs that commands and programs name. Importing them does not import Dagster."""

from evaluation_assets.core.text.user_error import UserError


class InvalidSelection(UserError, ValueError):
    """A selection cannot be materialised; the message says what to change."""
