"""Words of texts, and the scripts that they are in."""

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.trajectories import words as module
from evaluation_assets.core.traces.trajectories.growing_words import GrowingWords
from evaluation_assets.core.traces.trajectories.words import comparable_share, scripts, words, words_of_pieces

LETTERS = "abzAZ059.,_- \n\t\"'éßİΣσжЖ日本語가ー٣²K\x1c\u2028“…"
TEXTS = st.lists(st.text(LETTERS) | st.sampled_from(["The", "refund", "12,000.50", "café", "日本語", "naïve"])).map(
    " ".join
)
PLAIN = re.compile(r"[A-Za-zÀ-ɏͰ-ӿ]{3,}|\d+(?:[.,]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def plain_words(text: str) -> set[str]:
    found: set[str] = set()
    for word in set(PLAIN.findall(text.lower())) - module._STOP:
        together = word[0] >= "\u3040"
        found.update((word[i : i + 2] for i in range(max(1, len(word) - 1))) if together else [word])
    return found


@given(text=TEXTS)
def test_words_are_letters_numbers_and_pairs_of_characters(text: str) -> None:
    assert words(text) == plain_words(text)


@given(pieces=st.lists(TEXTS, max_size=4))
def test_words_of_a_text_are_those_of_its_lines(pieces: list[str]) -> None:
    assert words_of_pieces("\n".join(pieces), pieces) == words("\n".join(pieces))


def test_a_long_text_is_read_up_to_the_limit_whatever_its_pieces_are() -> None:
    pieces = ["filler " * 5000, "refund"]
    assert words_of_pieces("\n".join(pieces), pieces) == {"filler"}


def script(word: str) -> str | None:
    between = "\u0370" <= word[0] <= "\u04ff"
    return None if word[0].isdigit() else "east asian" if word[0] >= "\u3040" else "other" if between else "latin"


@given(part=TEXTS.map(words), whole=TEXTS.map(words))
def test_the_comparable_share_leaves_out_missing_words_of_other_scripts(
    part: frozenset[str], whole: frozenset[str]
) -> None:
    counts = Counter(found for word in whole if (found := script(word)))
    known = {found for found, count in counts.items() if count >= 0.2 * counts.total()}
    judged = [found in known for word in part if (found := script(word))]
    compared = [word for word in part if word in whole or script(word) is None or script(word) in known]
    expected = len(part & whole) / len(compared) if compared else None
    if not part or (known and judged and sum(judged) * 2 <= len(judged)):
        expected = None
    assert comparable_share(part, whole) == expected


@given(parts=st.lists(TEXTS.map(words), max_size=5), more=TEXTS.map(words))
def test_a_growing_text_has_the_scripts_of_all_its_words(parts: list[frozenset[str]], more: frozenset[str]) -> None:
    growing = GrowingWords()
    for part in parts:
        growing.add(part)
    assert growing.all == frozenset().union(*parts)
    assert growing.scripts == scripts(frozenset(growing.all))
    assert growing.scripts_with(more) == scripts(frozenset(growing.all | more))
