"""XML: elements with a prompt and an answer inside, at any depth, in two dialects that differ in the names of these.

Files are read safely, by expat behind defusedxml: no document type, no entities, nothing fetched.
"""

import re
from dataclasses import dataclass, field
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml import DefusedXmlException
from defusedxml.sax import parseString

from evaluation_assets.core.suites.formats.base import Draft, Source, SuiteFormat
from evaluation_assets.core.suites.suite import Case, ReferenceAnswer

_DECLARATION = re.compile(r"\A\s*(?:<\?xml[^>]*\?>)?")
"""It may name an encoding, but the text is decoded already. White space keeps the line numbers."""


def _blank(declaration: re.Match[str]) -> str:
    return "\n" * declaration[0].count("\n")


@dataclass(slots=True)
class Task:
    """One task element: its line, its id where it has one, and the text of its children by name."""

    line: int
    id: str | None
    texts: dict[str, list[str]] = field(default_factory=dict)


def _dialect(name: str, element: str, prompt: str, answer: str, description: str) -> SuiteFormat:
    """The dialect whose tasks are elements of that name."""
    return SuiteFormat(
        name=name,
        description=description,
        detection=f"an XML file with <{element}> elements",
        detect=lambda source: _has_elements(source, element),
        read=lambda source: _read(source, element, prompt, answer),
    )


def _has_elements(source: Source, name: str) -> bool:
    return source.is_xml and re.search(rf"<{name}[\s>/]", source.text) is not None


def _read(source: Source, element: str, prompt: str, answer: str) -> Draft:
    """A case for every element of that name; one without prompt or answer is listed as incomplete.

    Raises:
        InvalidSuite: the file is no XML, or has a document type or entities.
    """
    draft = Draft()
    for number, task in enumerate(_tasks(source, element), 1):
        name = task.id or f"{element}_{number}"
        prompts, answers = task.texts.get(prompt, []), task.texts.get(answer, [])
        if problem := _problem(prompt, prompts) or _problem(answer, answers):
            draft.leave_out(source, task.line, name, problem)
        else:
            draft.add(source, task.line, Case(id=name, message=prompts[0], answer=ReferenceAnswer(value=answers[0])))
    return draft


def _problem(child: str, texts: list[str]) -> str | None:
    if not any(texts):
        return f"it has no {child}"
    return f"it has more than one {child}" if len(texts) > 1 else None


def _tasks(source: Source, element: str) -> list[Task]:
    handler = _Tasks(element)
    try:
        parseString(_DECLARATION.sub(_blank, source.text).encode(), handler, forbid_dtd=True)
    except DefusedXmlException as problem:
        raise source.broken(handler.line, f"document types and entities are not read: {problem}") from None
    except SAXParseException as problem:
        raise source.broken(problem.getLineNumber(), f"not XML: {problem.getMessage()}") from None
    return handler.tasks


class _Tasks(ContentHandler):
    def __init__(self, element: str) -> None:
        super().__init__()
        self.tasks: list[Task] = []
        self._element = element
        self._task: Task | None = None
        self._task_depth = 0
        self._depth = 0
        self._text: list[str] | None = None
        self._locator: Locator | None = None

    @property
    def line(self) -> int | None:
        return None if self._locator is None else self._locator.getLineNumber()

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802
        self._locator = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        self._depth += 1
        if self._task is None:
            if name == self._element:
                self._task = Task(self.line or 1, attrs.get("id"))
                self._task_depth = self._depth
                self.tasks.append(self._task)
        elif self._depth == self._task_depth + 1:
            self._text = []
            self._task.texts.setdefault(name, [])

    def characters(self, content: str) -> None:
        if self._text is not None:
            self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802
        if self._task is not None and self._depth == self._task_depth + 1 and self._text is not None:
            self._task.texts[name].append("".join(self._text).strip())
            self._text = None
        elif self._depth == self._task_depth:
            self._task = None
        self._depth -= 1


DIALECTS = (
    _dialect("task-xml", "task", "prompt", "response", "XML: task elements with prompt and response."),
    _dialect("qa-pair-xml", "qa_pair", "question", "answer", "XML: qa_pair elements with question and answer."),
)
