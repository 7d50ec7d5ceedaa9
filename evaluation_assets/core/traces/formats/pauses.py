"""What LangGraph raises though nothing failed, and tracers record as errors: an interrupt, at which a run waits for a
human, and the command of a node to the graph around it.
"""

import re

_RAISED = re.compile(
    r"\s*(?:(?:\w+\.)*(?:GraphInterrupt|NodeInterrupt|ParentCommand|GraphBubbleUp)\b"
    r"|[(\[]Interrupt\(value=|Command\((?:graph|update|resume|goto)=)"
)


def error_of_run(stated: str | None) -> str | None:
    """The error that a run states; `None` if it was only interrupted."""
    return None if stated is None or _RAISED.match(stated) else stated
