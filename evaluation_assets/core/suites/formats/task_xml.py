"""XML with `task` elements that hold `prompt` and `response`."""

from evaluation_assets.core.suites.formats.base import Draft, Source
from evaluation_assets.core.suites.formats.xml_tasks import has_tasks, read_tasks

NAME = "task-xml"
DESCRIPTION = "XML: task elements with prompt and response."
DETECTION = "an XML file with <task> elements"


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return has_tasks(source, "task")


def read(source: Source) -> Draft:
    """A case for every task; the response is its reference answer."""
    return read_tasks(source, "task", "prompt", "response")
