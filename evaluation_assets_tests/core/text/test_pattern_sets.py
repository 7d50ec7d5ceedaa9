"""A set of patterns finds what their alternation finds."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.reactions import cues
from evaluation_assets.core.text.pattern_sets import PatternSet, folded_case, required_texts

KINDS = ("incomprehension", "correction", "complaint", "thanks", "going_on", "refusal", "coding_correction")
SAID = (
    "what do you mean", "That's not right", "THIS IS WRONG", "you misunderstood", "i said", "try again", "thank you",
    "makes no sense", "another", "I cannot", "das stimmt nicht", "ce n'est pas ça", "不对", "Это неправильно", "still ",
    "please", "not", "what", " ", ", ", "? ", "\n", "ı", "İ", "ſ", "K", "ς", "You", "mean", "are you sure",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(said=st.lists(st.sampled_from(SAID) | st.text(max_size=4), max_size=12))
def test_the_shipped_cues_are_found_as_by_their_alternation(kind: str, said: list[str]) -> None:
    text = " ".join(said)
    plain = re.compile("|".join(f"(?:{cue})" for cue in cues(kind)), re.IGNORECASE).search(text)
    found = PatternSet(cues(kind), re.IGNORECASE).search(text)
    assert (found and found.span()) == (plain and plain.span())


PARTS = st.sampled_from(["a", "b", "ab?", "[ab]", "[^a]", "(?:a|bc)", "(?:ab)+", "c*", r"\b", "(?=b)", "(?!c)", "."])


@given(
    patterns=st.lists(st.lists(PARTS, min_size=1, max_size=5).map("".join), min_size=1, max_size=4),
    text=st.text("abcAB ", max_size=12),
)
def test_any_patterns_are_found_as_by_their_alternation(patterns: list[str], text: str) -> None:
    plain = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE).search(text)
    searched = PatternSet(patterns, re.IGNORECASE)
    found = searched.search(text)
    assert (found and found.span()) == (plain and plain.span())
    assert plain is None or searched.may_match(text)


def test_letters_that_match_without_case_are_equal_when_folded() -> None:
    every = "".join(map(chr, (code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)))
    for letter in sorted({letter for kind in KINDS for cue in cues(kind) for letter in cue if letter.isalpha()}):
        for same in re.findall(re.escape(letter), every, re.IGNORECASE):
            assert folded_case(same) == folded_case(letter)


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        (r"\bYou (?:are|were) wrong\b", {"you are wrong", "you were wrong"}),
        (r"no+ answer", {" answer"}),
        (r"(?:a|b)?", set()),
        (r"\d+ (?:errors?|failures)", {" error", " errors", " failures"}),
    ],
)
def test_what_a_pattern_requires(pattern: str, required: set[str]) -> None:
    assert required_texts(pattern) == required
