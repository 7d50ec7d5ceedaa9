"""Dagster's warnings about its own previews, which say nothing to the user of a command."""

import warnings


def silence_previews() -> None:
    """Do not show warnings about features of Dagster that are in preview: checks per partition, data versions."""
    import dagster as dg  # noqa: PLC0415  (a second to import, which `--help` and a typo need not wait for)

    for preview in (dg.PreviewWarning, dg.BetaWarning):
        warnings.simplefilter("ignore", preview)
