"""What tables over drops say about themselves, for the UI."""

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]


def false_alarms(rows: Iterable[Row]) -> dict[str, float]:
    """By suite and metric, how often the gate fails without any change, from rows of `gate_calibration`."""
    return {f"false_alarms_{row['suite']}_{row['metric']}": row["fails"] for row in rows if row["drop_size"] == 0}


def damaged_tables(messages: Iterable[str]) -> dict[str, str]:
    """Files of drops that could not be read; the others were."""
    named = "\n".join(dict.fromkeys(messages))
    return {"damaged_tables": named} if named else {}
