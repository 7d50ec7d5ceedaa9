"""Errors of runs that commands and programs name. Importing them does not import Dagster."""


class InvalidSelection(ValueError):
    """A selection cannot be materialised; the message says what to change."""
