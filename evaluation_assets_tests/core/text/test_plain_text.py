"""Untrusted text in Markdown, chats, logs of CI systems and spreadsheets."""

import csv
import html
import io
import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evaluation_assets.core.text.plain_text import csv_cell, for_chat, for_terminal, from_csv_cell, markdown_cell, plain

PAGE = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
HOSTILE = [
    "@octocat", "#12", "acme/other#12", "GH-12", "www.example.org", "https://example.org", "<https://example.org>",
    "![x](https://example.org/x.png)", "[x](javascript:alert(1))", "<img src=x onerror=alert(1)>", "<!-- x -->",
    "| a | b |", "a\n# heading", "a\n- item", "`code`", "~~~", "**bold**", "$x$", "&lt;b&gt;", "\\<b>", "a\r\n\r\nb",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_of_markdown_is_text_and_nothing_else(text: str) -> None:
    cell = markdown_cell(text)
    (row,) = (line for line in PAGE.render(f"| a |\n| - |\n| {cell} |").splitlines() if "<td>" in line)
    shown = re.sub(r"</?td>", "", row)
    assert "<" not in shown, "no element begins"
    assert not re.search(r"@\w|#\d|GH-\d|www\.", shown), "nothing that GitHub links by its words"


@given(st.text(alphabet=string.printable.replace("\n", ""), min_size=1, max_size=60))
@example("cut off: #12 of GH-12, see www.example.org: 1:2")
def test_a_cell_of_markdown_reads_as_the_text_it_was_made_from(text: str) -> None:
    (row,) = (line for line in PAGE.render(f"| a |\n| - |\n| {markdown_cell(text)} |").splitlines() if "<td" in line)
    shown = html.unescape(re.sub(r"</?td>", "", row)).replace("\u200b", "")
    assert shown.split() == plain(text).split()


@given(st.text(alphabet=string.printable.replace("\n", ""), min_size=1, max_size=60))
@example("1. first")
@example("2024) last")
@example("--- a")
@example("# b")
@example("_a_ __b__ c_d _e")
def test_a_text_that_begins_a_paragraph_or_an_item_stays_text(text: str) -> None:
    cell = markdown_cell(text)
    for page, begin, end in ((cell, "<p>", "</p>"), (f"- {cell}", "<ul>\n<li>", "</li>\n</ul>")):
        shown = PAGE.render(page).strip() if plain(text).split() else f"{begin}{end}"
        assert shown.startswith(begin) and shown.endswith(end)
        assert "<" not in shown.removeprefix(begin).removesuffix(end)


@pytest.mark.parametrize(
    "text", ["bad_json", "night-ferry (2)", "Cut off: at 10:30", '"days": 2, "a":1', "wait! 1.5 + 2"]
)
def test_what_means_nothing_in_markdown_is_written_as_it_is(text: str) -> None:
    assert markdown_cell(text) == text


@pytest.mark.parametrize("text", [":smile:", "x:100:", "a:tada", "https://a.b", "mailto:a", "XMPP:a"])
def test_no_colon_begins_an_emoji_or_a_link(text: str) -> None:
    assert not re.search(r":[\w/]", markdown_cell(text))


@given(st.text(alphabet=st.sampled_from([*string.printable, "\u202e", "\x1b"]), max_size=40))
def test_a_cell_of_markdown_is_one_row(text: str) -> None:
    rendered = PAGE.render(f"| a | b |\n| - | - |\n| {markdown_cell(text)} | last |")
    assert rendered.count("<td>") == 2 and "<td>last</td>" in rendered


@pytest.mark.parametrize("text", ["<!channel>", "<@U123>", "<https://example.org|click>", "@here", "a\x1b[2J"])
def test_a_chat_mentions_nobody_and_links_nothing(text: str) -> None:
    shown = for_chat(text)
    assert not re.search(r"[<>\x1b]|@\w", shown)


@pytest.mark.parametrize(
    "line", ["::error file=a::b", "  ::set-output name=a::b", "##[command]ls", "##vso[task.complete]", "##teamcity[x]"]
)
def test_no_line_of_a_log_is_a_command(line: str) -> None:
    for text in (line, f"first\n{line}", f"first\r{line}"):
        shown = for_terminal(text)
        assert not re.search(r"^\s*::|##\[|##vso\[|##teamcity\[", shown, re.MULTILINE)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "text", [f"a{between}{sign}1+1" for sign in SIGNS for between in ("", ";", "; ", "\t", "\n", '";"', "|", ";'")]
)
def test_no_spreadsheet_finds_a_formula_whatever_it_separates_cells_by(text: str, separator: str) -> None:
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerow([csv_cell(part) for part in (text, text[1:], "end")])
    for row in csv.reader(io.StringIO(sheet.getvalue(), newline=""), delimiter=separator):
        assert not any(cell.strip(" \"'").startswith(tuple(SIGNS)) and not cell.startswith("'") for cell in row)


@given(
    st.lists(st.sampled_from([*"=+-@;\t\n\r|'\" a1\\u", *SIGNS[4:], "\\u003d", "\\u005c"]), max_size=12).map("".join)
)
def test_a_cell_comes_back_as_it_was(text: str) -> None:
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerow([csv_cell(text), "x"])
    ((cell, _),) = csv.reader(io.StringIO(sheet.getvalue(), newline=""))
    assert from_csv_cell(cell) == text
