"""What a check found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a check passed, its severity where it did not, its figures, and one sentence for people."""

    passed: bool
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    severity: Literal["error", "warn"] = "error"
