"""What users read is plain English: phrases that were rewritten once do not come back."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from evaluation_assets.cli.main import main

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "evaluation_assets"

RIDDLES = {
    r"\bnobody (?:is|was|called|asked|answers?)\b": "say what is not done: no model is called",
    r"\bcalls nobody\b": "say: makes no model calls",
    r"\banew\b": "say: again, new, repeat",
    r"\b(?:Slack )?and its like\b": "name the thing, or say: and similar",
    r"\bnot represented\b": "say: unmapped fields",
    r"\b(?:has|have) spoken about\b|\bto have spoken\b": "judges answer; the share is coverage",
    r"\bfrom nowhere\b": "say: ungrounded value",
    r"\bare worth to each other\b": "say: inter-rater agreement",
    r"\bput up with\b": "say: tolerate",
    r"\bhold a drop against\b": "say: compare a drop with its baseline",
    r"\bwhatever it looks like\b": "say: skip detection",
    r"\bprocessor time\b|\bof it \d": "say: CPU, wall",
    r"^Read are\b|^Listed are\b|^Shown are\b": "subject first",
    r"\bwithout (?:the agent's|its|anybody's) doing\b": "say: because of the infrastructure",
    r"\bthere are: ": "say: choose one of",
    r"\bAnother (?:panel\.yaml|baseline)\b": "say what the option is, and its default",
    r"\btold to a URL\b|\bnobody is told\b": "say: posted to a webhook",
    r"\bthe final piece\b|\bpieces of trajectories\b": "a cut of a trajectory is a clip",
    r"\bcontributions?\b": "one agent's stretch of a session is an interaction",
    r"\bone (?:trajectory|rejection) a record\b": "say: per record",
    r"\bas good as missing\b": "say: treated as missing",
    r"\bwhoever\b": "name the role",
    r"\bstands? around (?:it|them)\b": "say: the surrounding text, the enclosing record",
    r"\bhangs? together\b": "say: is correlated",
    r"\b(?:more|less) than nothing\b": "say: not negative",
    r"\bon (?:its|their) way into\b": "say what the object holds or writes",
    r"\bhalf surrogate pairs?\b|\bhalf a surrogate pair\b": "say: lone surrogate",
    r"\bthe words of a model\b": "say: a model message",
    r"\bis no (?:JSON|list|object)\b": "say: is not",
    r"\b(?:smallest|true|planted|largest) drop\b|\bp \(drop\)": "a drop is a file; a metric decreases",
}
"""Patterns that must not match, each with what to write instead."""

IN_CODE = RIDDLES | {
    r"(?<!there )\b(?:is|are) no (?!longer\b|more\b|less\b|such\b)": "say: is not a",
    r"\bno (?:regular expression|YAML|JSON|JSONPath|XML|URL):": "say: not a ..., with the reason",
    r"\bno address such as\b": "say what it is not, then give an example",
    r"\breached on two ways\b": "say: in two ways",
    r"^Not without\b": "say: only available inside",
    r"\b(?:goes|go|went) before (?:this|it|that)\b": "say: takes precedence",
    r"\bby lot\b": "say: at random",
    r"\bunreadable or removed by a rule\b|\b(?:unreadable, or|kept,) removed by a rule\b": "say: preprocessing",
    r"\bBlocks after\b": "say what a failure blocks",
}
"""What also must not be in the strings of the code: errors, log lines, findings, descriptions."""

GENERATED = ("tables.md", "rubrics.md")
"""Pages made from the code. The wording of a rubric is versioned with its verdicts, so it stays."""
PAGES = [page for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]) if page.name not in GENERATED]
TEMPLATES = sorted((PACKAGE / "core").rglob("*.j2"))
READERS = sorted((PACKAGE / "core").rglob("*.py"))
"""Modules whose docstrings are covered."""
DEFINITIONS = sorted((PACKAGE / "defs").glob("*.py"))
PROMPTS = ("prompts.py", "replies.py", "session_subjects.py")
"""Modules whose strings are sent to judges. Other words are another question, which would be paid for again."""
WRITERS = sorted((ROOT / "evaluation_assets_tests" / "generated_pages").glob("*.py"))
"""Modules that write the generated pages."""
MODULES = [path for path in (*sorted(PACKAGE.rglob("*.py")), *WRITERS) if path.name not in PROMPTS]


def riddles(text: str, rules: Mapping[str, str] = RIDDLES) -> list[str]:
    """What is wrong with a text: each phrase, and what to write instead. Code in backticks may be called anything."""
    prose = re.sub(r"`[^`\n]*`", "`code`", text)
    return [
        f"{found[0]!r}: {instead}"
        for pattern, instead in rules.items()
        for found in re.finditer(pattern, prose, re.IGNORECASE | re.MULTILINE)
    ]


def assert_plain(texts: dict[str, str]) -> None:
    """Fail with all riddles of all texts."""
    assert texts
    found = [f"{name}: {riddle}" for name, text in texts.items() for riddle in riddles(text)]
    assert not found, "\n".join(found)


def commands(command: click.Command, name: str = "evaluation-assets") -> Iterator[tuple[str, click.Command]]:
    """A command and those below it, by name."""
    yield name, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            found = [(each, command.get_command(context, each)) for each in command.list_commands(context)]
        for each, below in found:
            if below is not None:
                yield from commands(below, f"{name} {each}")


COMMANDS = dict(commands(main))


def help_of(name: str) -> str:
    """The help of a command."""
    with click.Context(COMMANDS[name], info_name=name) as context:
        return COMMANDS[name].get_help(context)


def descriptions(module: Path) -> list[str]:
    """The literal parts of `description=` in a module: what the Dagster UI says of assets, checks, jobs and sensors."""
    return [
        part.value
        for call in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "description"
        for part in ast.walk(keyword.value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def docstrings(module: Path) -> list[str]:
    """The docstrings of a module and of its functions, classes and attributes."""
    return [
        statement.value.value
        for statement in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    ]


def texts(module: str) -> Iterator[tuple[int, str]]:
    """The texts in the code of a module, with their lines: strings with a space that are not docstrings.

    The expressions of an f-string are `…`, so that a sentence is read across them.
    """
    tree = ast.parse(module)
    skipped = {id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text and id(node) not in skipped:
            yield node.lineno, text


def rendered(template: str) -> str:
    """The words of a template, without its expressions, statements and comments."""
    return re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", template, flags=re.DOTALL)


def test_pages_are_plain() -> None:
    assert_plain({page.name: page.read_text("utf-8") for page in PAGES})


def test_the_help_of_every_command_is_plain() -> None:
    texts = {name: help_of(name) for name in COMMANDS}
    assert_plain({name: " ".join(text.split()) for name, text in texts.items()})
    assert [name for name, text in texts.items() if not text.split("\n\n")[1].strip()] == []


def test_reports_are_plain() -> None:
    assert_plain({path.name: rendered(path.read_text("utf-8")) for path in TEMPLATES})


def test_descriptions_in_the_ui_are_plain() -> None:
    assert_plain({path.name: "\n".join(descriptions(path)) for path in DEFINITIONS})


def test_docstrings_are_plain() -> None:
    texts = {str(path.relative_to(ROOT)): "\n".join(docstrings(path)) for path in (*READERS, *WRITERS)}
    assert_plain(texts)


def test_errors_and_messages_are_plain() -> None:
    unclear = [
        (path.name, line, why)
        for path in MODULES
        for line, text in texts(path.read_text("utf-8"))
        if (why := riddles(text, IN_CODE))
    ]
    assert unclear == []


def test_a_message_is_read_across_its_expressions() -> None:
    code = 'def f(x: str) -> None:\n    """A word is no number."""\n    raise ValueError(f"{x!r} is no {x} number")\n'
    assert list(texts(code)) == [(3, "… is no … number")]
    assert riddles("… is no … number", IN_CODE)


def test_every_option_has_a_help_text() -> None:
    options = [
        (name, option) for name in COMMANDS for option in COMMANDS[name].params if isinstance(option, click.Option)
    ]
    assert options
    assert [(name, option.name) for name, option in options if not option.help] == []


@pytest.mark.parametrize(
    "text",
    [
        "Nothing is stored and nobody is asked.",
        "Read are chat messages of OpenAI.",
        "the smallest drop it sees",
        "73 s, of it 69 s of processor time",
        "the trials of a task hang together",
        "messages is no list of messages",
    ],
)
def test_a_riddle_is_found(text: str) -> None:
    assert riddles(text)


def test_a_name_in_code_may_be_anything() -> None:
    assert riddles("The column `smallest_drop` and `the true drop` stay.") == []
