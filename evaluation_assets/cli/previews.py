"""Silence Dagster's warnings about its own preview features, which do not concern users of commands."""

import warnings


def silence_previews() -> None:
    """Hide warnings about preview features of Dagster: checks per partition, data versions."""
    import dagster as dg  # noqa: PLC0415  (takes a second to import; `--help` and usage errors should not wait for it)

    for preview in (dg.PreviewWarning, dg.BetaWarning):
        warnings.simplefilter("ignore", preview)
