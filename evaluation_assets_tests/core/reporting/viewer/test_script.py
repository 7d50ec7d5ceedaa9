"""The modules of the viewer, run in a browser."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from evaluation_assets.core.reporting.viewer.script import module, script
from evaluation_assets_tests.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROW = {
    "id": "trip-1", "task_id": "trip", "task": "Book a trip", "agents": ["planner"], "success": False, "passed": None,
    "score": 0.4, "worst": 0.1, "worst_clip": 2, "turns": 1, "calls": 3, "errors": 1, "tools": ["search_flights"],
    "tokens": None, "cost": None, "seconds": 12.5, "flags": ["step_limit"],
}  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Iterator["Page"]:
    with chromium() as browser:
        yield browser.new_page()


def run(page: "Page", name: str, expression: str, argument: Any = None) -> Any:
    """The value of an expression over the functions of a module; `given` is the argument."""
    return page.evaluate(f"(given) => {{ {module(name)}\n return {expression}; }}", argument)


def test_no_name_is_defined_twice() -> None:
    names = Counter(re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script(), re.MULTILINE))
    assert [name for name, times in names.items() if times > 1] == []


def test_data_never_becomes_markup() -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", script()
    )
    assert script().isascii() is False or "</script" not in script()
    assert "</script" not in script()


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("score<0.5", True),
        ("score>=0.5", False),
        ("tokens>0", False),  # unknown is no number
        ("-score<0.5", False),
        ("outcome:fail", True),
        ("outcome:pass", False),
        ("tool:flights errors>0", True),
        ("tool:hotels", False),
        ("flag:step_limit agent:PLANNER", True),
        ('task:"trip"', True),
        ("label:none", True),
        ("calls=3", True),
    ],
)
def test_conditions_of_a_query(page: "Page", query: str, matches: bool) -> None:
    assert run(page, "query", "parsed(given.query).matches(given.row)", {"query": query, "row": ROW}) is matches


def test_what_is_no_condition_is_searched(page: "Page") -> None:
    words = run(page, "query", "parsed(given).words", 'Timeout "no such file" colour:red score<high http://x.y')
    assert words == ["timeout", "no such file", "colour:red", "score<high", "http://x.y"]


def test_what_looks_like_a_condition_and_is_none_is_named(page: "Page") -> None:
    found = run(page, "query", "parsed(given).unknown", 'score<abc foo:bar score< timeout score<1 http://x.y "a:b"')
    assert found == ["score<abc", "foo:bar", "score<"]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 12345678901234567890, "price": 1.10, "nested": {"empty": {}, "list": [], "a": [1, 2]}}',
        '[{"text": "line\\nbreak \\\\n backslash \\"quoted\\" {[,:]}"}]',
        '{"a": null, "b": true, "c": -1.5e10}',
    ],
)
def test_indented_json_keeps_every_character_but_space_and_line_breaks(page: "Page", text: str) -> None:
    shown = run(page, "content", "content(given).textContent", text)
    expected = re.sub(r"(\\\\)|\\n", lambda found: found[1] or "\n", text)
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", expected)
    assert shown.count("\n") > 2


def test_long_texts_are_shown_in_steps_without_loss(page: "Page") -> None:
    text = "".join(f"{n:06}🦀" for n in range(100_000))
    shown, buttons = run(
        page,
        "content",
        """(() => {
          const block = content(given); let clicks = 0;
          const button = block.querySelector("button"); const first = block.querySelector("pre").textContent.length;
          while (!button.hidden) { button.click(); clicks += 1; }
          return [block.querySelector("pre").textContent, [clicks, first]]; })()""",
        text,
    )
    assert shown == text
    assert buttons[0] > 1 and 3000 < buttons[1] < 5000


def test_terminal_colours_and_other_escapes(page: "Page") -> None:
    text = "\x1b[1;31mFAILED\x1b[0m test \x1b[2K\x1b]0;title\x07ok \u202eevil"
    shown, classes = run(
        page,
        "content",
        "(() => { const b = content(given); return [b.textContent, b.querySelector('span').className]; })()",
        text,
    )
    assert shown == "FAILED test ok \ufffdevil"
    assert set(classes.split()) == {"ansi-bold", "ansi-red"}


def test_lines_of_a_diff_are_marked(page: "Page") -> None:
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"
    found = run(
        page, "content", "[...content(given).querySelectorAll('.added, .deleted')].map((e) => e.textContent)", text
    )
    assert found[-2:] == ["-old\n", "+new\n"]


def test_addresses_lead_back(page: "Page") -> None:
    for name in ("plain", "a/b?c#d", "100%", "ü 答"):
        found = run(
            page,
            "address",
            "(() => { location.hash = addressOf('run', given, {item: 3, q: ''}); const a = address(); "
            "return [a.view, a.argument, a.parameters.get('item'), a.parameters.get('q')]; })()",
            name,
        )
        assert found == ["run", name, "3", None]


def test_runs_are_aligned_by_their_calls(page: "Page") -> None:
    def trajectory(*tools: str) -> dict[str, Any]:
        items = [{"kind": "call", "text": "{}", "tool": tool, "clip": place} for place, tool in enumerate(tools)]
        return {"clips": [{"score": 1, "index": place} for place in range(len(tools))], "items": items}

    sides = [trajectory("find", "read", "book"), trajectory("find", "pay", "book", "mail")]
    rows = run(
        page, "compare", "aligned(given[0], given[1]).map((row) => row.map((side) => side?.tool ?? null))", sides
    )
    assert rows == [["find", "find"], ["read", None], [None, "pay"], ["book", "book"], [None, "mail"]]
