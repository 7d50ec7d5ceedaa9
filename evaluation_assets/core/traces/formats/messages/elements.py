"""Elements that a model writes into a text, such as `<tool_call>...</tool_call>`, found in linear time."""

from typing import NamedTuple


class Element(NamedTuple):
    """What follows the name in the opening tag (`=city` or ` duration="1"`), and the text up to the closing tag."""

    attributes: str
    content: str


def elements_in(text: str, name: str) -> tuple[list[Element], str]:
    """The elements of a name, which are not nested, and the rest of the text. One that is not closed is text."""
    opening, closing = f"<{name}", f"</{name}>"
    elements: list[Element] = []
    rest: list[str] = []
    position = search = 0
    while (start := text.find(opening, search)) >= 0:
        after = start + len(opening)
        if text[after : after + 1] not in (">", "=", " ", "\t", "\n"):  # another name that begins so
            search = after
            continue
        inner = text.find(">", after)
        end = text.find(closing, inner)
        if inner < 0 or end < 0:
            break
        attributes = text[after:inner]
        rest.append(text[position:start])
        elements.append(Element(attributes.strip(), text[inner + 1 : end]))
        position = search = end + len(closing)
    rest.append(text[position:])
    return elements, "".join(rest)


def element_in(text: str, name: str) -> str | None:
    """The content of the first element of a name, without the blanks around it."""
    elements, _ = elements_in(text, name)
    return elements[0].content.strip() if elements else None
