"""Extract the values filled into a prompt template."""

import re


def filled_in(prompt: str, template: str | None, name: str) -> str | None:
    """The text at `{name}` or `{{name}}` of a template; `None` if the prompt does not match the template."""
    match = None if template is None else re.search(r"\{\{?\s*" + re.escape(name) + r"\s*\}?\}", template)
    if template is None or match is None:
        return None
    before = template[: match.start()].rpartition("}")[2].lstrip()
    after = template[match.end() :].partition("{")[0].lstrip().partition("\n")[0]
    start = prompt.find(before)
    end = prompt.find(after, start + len(before)) if after else len(prompt)
    if start < 0 or end < 0:
        return None
    return prompt[start + len(before) : end].strip() or None
