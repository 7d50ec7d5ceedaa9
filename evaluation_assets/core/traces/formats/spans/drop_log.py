"""What the traces of a drop have to know of each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation_assets.core.traces.formats.spans.history import CallLog
from evaluation_assets.core.traces.formats.spans.twins import Twins


@dataclass(slots=True)
class DropLog:
    """The calls and the answers of models in all traces of a drop, and the agents of each service."""

    calls: CallLog = field(default_factory=CallLog)
    twins: Twins = field(default_factory=Twins)
    agents: Mapping[str, set[str]] = field(default_factory=dict)
