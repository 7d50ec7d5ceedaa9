"""Links in the documentation lead to files and headings that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("**/*.md"))]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere, or out of the documentation: its site has nothing else."""
    found = []
    within = DOCS if page.is_relative_to(DOCS) else page.parent
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        address, _, anchor = link.partition("#")
        target = page.parent / address if address else page
        if re.match(r"[a-z]+:", link):
            continue
        if (
            not target.exists()
            or not target.resolve().is_relative_to(within)
            or (anchor and anchor not in anchors(target))
        ):
            found.append(link)
    return found


def test_links_lead_somewhere() -> None:
    found = [f"{page.relative_to(ROOT)}: {link}" for page in PAGES for link in broken(page)]
    assert not found, "\n".join(found)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One title\n\n[a](page.md#one-title) [b](missing.md) [c](#other) [d](..)\n")
    assert broken(page) == ["missing.md", "#other", ".."]
