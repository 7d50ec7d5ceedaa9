"""How large requests are, in bytes."""

from evaluation_assets.core.models.messages import DecisionQuestion, Request


def size_of(text: str) -> int:
    """Bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def texts_of(request: Request) -> list[str]:
    """All that a model reads of a request."""
    texts = [request.system, repr(request.schema)]  # about as long as JSON, and of numbers of any size
    for turn in request.turns:
        texts += [turn.text if turn.wire is None else repr(turn.wire), *(answer.content for answer in turn.answers)]
    for tool in request.tools:
        texts += [tool.name, tool.description or "", repr(tool.parameters)]
    return [*texts, *map(text_of_question, request.questions)]


def text_of_question(question: DecisionQuestion) -> str:
    """All that a decision model reads of a question."""
    options = (f"{value}: {meaning}" for value, meaning in question.options)
    return "\n".join([f"{question.name}: {question.instructions}", *options])


def size_of_request(request: Request) -> int:
    """Bytes of the texts of a request."""
    return sum(map(size_of, texts_of(request)))
