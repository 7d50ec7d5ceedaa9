"""XML with `qa_pair` elements that hold `question` and `answer`."""

from evaluation_assets.core.suites.formats.base import Draft, Source
from evaluation_assets.core.suites.formats.xml_tasks import has_tasks, read_tasks

NAME = "qa-pair-xml"
DESCRIPTION = "XML: qa_pair elements with question and answer."
DETECTION = "an XML file with <qa_pair> elements"


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return has_tasks(source, "qa_pair")


def read(source: Source) -> Draft:
    """A case for every pair; the answer is its reference answer."""
    return read_tasks(source, "qa_pair", "question", "answer")
