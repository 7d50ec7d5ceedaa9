"""What users say next, and refusals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks import reactions
from evaluation_assets.core.models.embeddings import Taken, Vector
from evaluation_assets.core.sections.sessions.embedding_similarity import EmbeddingSettings, EmbeddingSimilarity
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.examples import DISSATISFIED, Resemblance, _examples, resemblances
from evaluation_assets.core.sections.sessions.reactions import is_refusal, reaction
from evaluation_assets.core.sections.sessions.similarity import LexicalSimilarity
from evaluation_assets_tests.core.sections.sessions.making import example, part, seen, session, turn
from evaluation_assets_tests.third_party import data

MEASURE = LexicalSimilarity()


def kind(following: str, message: str = "When does the train to Hanoi leave?") -> str:
    return reaction(message, following, float(MEASURE.matrix([message, following])[0, 1]), MEASURE).kind


@pytest.mark.parametrize(
    "message",
    [
        "That's not what I asked for.",
        "No, I meant the evening train.",
        "You forgot the return ticket",
        "I would like to book for Thursday, not Tuesday.",
        "Are you sure?",
        "Das ist falsch, ich meinte morgen.",
        "Ce n'est pas ce que j'ai demandé",
        "Eso no es correcto",
        "Isso não está certo",
        "Non è quello che volevo dire",
        "不对，我说的是明天",
        "違います、明日です",
        "Không phải vậy, ý tôi là ngày mai",
        "Это неправильно",
    ],
)
def test_corrections_in_several_languages(message: str) -> None:
    assert kind(message) == "correction"


@pytest.mark.parametrize(
    "message",
    ["What do you mean?", "that makes no sense", "umm, what?", "Was meinst du?", "你在说什么", "Je, n'a aucun sens"],
)
def test_incomprehension(message: str) -> None:
    assert kind(message) == "incomprehension"


@pytest.mark.parametrize(
    "message",
    [
        "This is useless",
        "That's frustrating.",
        "Could you check again, please?",
        "Can you please try again?",
        "I'm disappointed by your answer",
        "I want to talk to a human",
        "太差了",
        "Das hilft mir nicht",
        "As I mentioned, the evening one.",
        "Like I said, in the evening.",
        "Wie ich bereits erwähnte, abends",
        "Como ya dije, por la tarde",
        "Comme je l'ai déjà dit, le soir",
    ],
)
def test_complaints(message: str) -> None:
    assert kind(message) == "complaint"


@pytest.mark.parametrize(
    "message",
    [
        "I meant to ask about billing too",
        "I asked my boss about it.",
        "No, I don't care about the location.",
        "No, that's everything, bye",
        "And one for Thursday",
        "Before we go on: I'm really frustrated about the delay of my last flight.",
        "I'm confusing it with another trip.",
        "Please note on my booking that I requested insurance.",
        "I hope I won't have to do this again, but I'm glad that it is done.",
        "Could you clarify how refunds are paid?",
        "What is the price?",
    ],
)
def test_going_on_is_no_reaction(message: str) -> None:
    assert kind(message) == "none"


def test_the_same_question_again_is_a_re_ask() -> None:
    assert kind("When does the train to Hanoi leave?") == "re_ask"
    assert kind("so when does the train leave to Hanoi") == "re_ask"


@pytest.mark.parametrize(
    "message",
    [
        "When does the train to Hue leave tomorrow evening?",
        "When does train 12 to Hanoi leave?",
        "When does another train to Hanoi leave?",
        "Thanks! When does the train to Hanoi leave?",
    ],
)
def test_another_number_another_one_or_thanks_is_no_re_ask(message: str) -> None:
    assert kind(message) != "re_ask"


@pytest.mark.parametrize(
    "text", ["I'm sorry, but I can't do that.", "I cannot help with this", "我无法回答", "Tôi không thể giúp"]
)
def test_refusals(text: str) -> None:
    assert is_refusal(text)
    assert not is_refusal("You can help yourself. I can do that for you.")


def test_a_last_turn_has_no_reaction() -> None:
    found = seen(example("urlaub-resturlaub")).reactions
    assert [each and each.kind for each in found] == ["correction", "thanks", "re_ask", "thanks", None]


def test_reactions_that_cues_were_not_written_for() -> None:
    """A cue counts in a fold of EURTAD only where the other folds bear it out."""
    found = reactions.out_of_fold(list(reactions.replies_in(data("eurtad"), MEASURE)), MEASURE)
    alarms: dict[str | None, list[bool]] = {}
    for reply, alarm in found:
        alarms.setdefault(reply.label, []).append(alarm)
    assert {label: len(own) for label, own in alarms.items() if label} == {
        "Ask for Clarification": 44,
        "Ignore and Continue": 23,
        "Make Aware With Correction": 6,
        "Make Aware Without Correction": 8,
        "Repeat or Rephrase": 6,
    }
    reacting = [alarm for label in reactions.REACTING for alarm in alarms[label]]
    assert sum(reacting) >= 0.6 * len(reacting)
    assert sum(alarms["Ask for Clarification"]) >= 0.75 * 44
    assert sum(alarms["Ignore and Continue"]) <= 2
    quiet = {reply.dialogue: False for reply, _ in found if reply.label is None}
    quiet |= {reply.dialogue: True for reply, alarm in found if reply.label is None and alarm}
    assert len(quiet) == 373
    assert sum(quiet.values()) <= 0.08 * len(quiet)


def test_a_cue_that_one_dialogue_alone_shows_does_not_count_for_it() -> None:
    def reply(text: str, fold: int, label: str | None) -> Any:
        return reactions.Reply(f"{text}/{fold}", fold, label, "before", text, 0.0)

    own, other, quiet = (reply("a", fold, label) for fold, label in ((0, reactions.REACTING[0]), (1, "x"), (1, None)))
    assert reactions._borne_out({own: [7], other: [], quiet: []}, {0}) == frozenset()
    again = reply("b", 1, reactions.REACTING[0])
    assert reactions._borne_out({own: [7], again: [7], quiet: []}, {0}) == {7}
    assert reactions._borne_out({own: [7], again: [7], quiet: [7]}, {0}) == frozenset()


def test_thresholds_for_a_fold_come_from_the_other_folds() -> None:
    """In the held-out fold alone a margin of 0.1 would be best; the others bear out 0.3."""

    def reply(fold: int, label: str | None, margin: float) -> Any:
        own = Resemblance("correction", "zzz", margin)
        return reactions.Reply(f"{fold}/{margin}", fold, label, "before", "zzz", 0.0, own)

    reacting = reactions.REACTING[0]
    held_out = [reply(0, reacting, 0.12), reply(0, reacting, 0.32), reply(0, None, 0.01)]
    others = [reply(fold, label, margin) for fold in (1, 2) for label, margin in ((reacting, 0.31), (None, 0.2))]
    found = dict(reactions.out_of_fold([*held_out, *others], meaning({})))
    assert [found[each] for each in held_out] == [False, True, False]


@pytest.mark.parametrize(
    "message",
    [
        "I already told you the date.",
        "I never said Tuesday.",
        "Why do you say that?",
        "How is that relevant?",
        "Could you please clarify?",
        "That is completely unrelated.",
        "What does a museum have to do with it?",
    ],
)
def test_general_ways_to_object_or_to_ask_back(message: str) -> None:
    assert kind(message) in ("correction", "incomprehension")


class _Vectors:
    """Made-up vectors; what has none is like nothing else here."""

    taken = Taken()

    def __init__(self, known: dict[str, list[float]]) -> None:
        self._known = known

    def of(self, texts: Sequence[str]) -> list[Vector]:
        return [np.array(self._known.get(text, [0, 0, 0, 1]), np.float32) for text in texts]


def meaning(known: dict[str, list[float]]) -> EmbeddingSimilarity:
    return EmbeddingSimilarity(EmbeddingSettings(model="made up"), _Vectors(known))


WRONG = {"That is wrong.": [1, 0, 0, 0], "That is right.": [0.8, 0.6, 0, 0]}
"""Contraries have vectors close to each other."""


def test_what_means_the_same_as_dissatisfaction_shows_it() -> None:
    said = "A pity. You took the wrong one! Bye"
    measure = meaning(WRONG | {"You took the wrong one!": [0.96, 0.28, 0, 0], "A pity.": [0, 0, 1, 0]})
    resemblance = resemblances([said], measure)[0]
    assert resemblance is not None
    assert (resemblance.kind, resemblance.sentence) == ("correction", "You took the wrong one!")
    assert resemblance.margin == pytest.approx(0.96 - (0.8 * 0.96 + 0.6 * 0.28), abs=1e-6)


@pytest.mark.parametrize(
    ("vector", "kind"), [([0.96, -0.28, 0, 0], "correction"), ([0.9, 0.436, 0, 0], "none"), ([0, 0, 1, 0], "none")]
)
def test_content_users_who_say_the_contrary_show_no_dissatisfaction(vector: list[float], kind: str) -> None:
    trajectory = session(turn("When does it leave?", part("a", "x")), turn("Zzz", part("a", "y")))
    found = SessionEvidence(trajectory, meaning(WRONG | {"Zzz": vector, "When does it leave?": [0, 1, 0, 0]})).reactions
    assert found[0] is not None
    assert (found[0].kind, found[0].cue) == (kind, None if kind == "none" else "Zzz")
    assert found[1] is None


def test_letters_resemble_no_example() -> None:
    assert resemblances(["That is wrong."], MEASURE) == [None]
    assert resemblances(["", " "], meaning({})) == [None, None]


def test_thanks_and_cues_come_before_what_a_message_resembles() -> None:
    like = Resemblance("complaint", "sentence", 0.9)
    assert reaction("a", "Thanks", None, meaning({}), like).kind == "thanks"
    assert reaction("a", "That's not what I asked for", None, meaning({}), like).kind == "correction"
    assert reaction("a", "Zzz", None, meaning({}), like).kind == "complaint"


def test_a_judge_is_believed_at_a_lower_cosine_than_embeddings_alone() -> None:
    measure = meaning({})
    assert [measure.may_re_ask(cosine) for cosine in (0.3, 0.6, 0.99)] == [False, True, True]
    assert [measure.re_asks("a", "b", cosine) for cosine in (0.3, 0.6, 0.99)] == [False, False, True]


def test_every_kind_of_dissatisfaction_has_examples() -> None:
    examples = _examples()
    assert set(examples) == {*DISSATISFIED, "content"}
    listed = [example for own in examples.values() for example in own]
    assert len(listed) == len(set(listed))
