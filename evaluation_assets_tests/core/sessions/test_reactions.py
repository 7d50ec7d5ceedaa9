"""What users say next, and refusals."""

import re

import pytest

from evaluation_assets.core.sessions.reactions import is_refusal, reaction
from evaluation_assets.core.sessions.similarity import LexicalSimilarity
from evaluation_assets_tests.core.sessions.making import example, seen
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


@pytest.mark.parametrize("message", ["This is useless", "I want to talk to a human", "太差了", "Das hilft mir nicht"])
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


def test_on_eurtad_ignoring_is_no_correction_and_false_alarms_are_rare() -> None:
    import orjson

    def users(context: str) -> list[str]:
        said = re.findall(r"<(user|system)>(.*?)(?=<user>|<system>|$)", context, re.DOTALL)
        return [text.strip() for role, text in said if role == "user" and text.strip()]

    def is_bad(messages: list[str], index: int) -> bool:
        cosine = float(MEASURE.matrix(messages)[index, index + 1])
        found = reaction(messages[index], messages[index + 1], cosine, MEASURE)
        return found.kind not in ("none", "thanks")

    hits: dict[str, list[bool]] = {}
    for path in sorted(data("eurtad/erroneous").glob("*.json")):
        record = orjson.loads(path.read_bytes())
        messages = [*users(record["context"]), record["user_reaction"]]
        hits.setdefault(record["user_reaction_type"], []).append(is_bad(messages, len(messages) - 2))
    assert sum(map(len, hits.values())) == 87
    assert sum(hits["Ignore and Continue"]) == 0
    made_aware = [*hits["Make Aware With Correction"], *hits["Make Aware Without Correction"]]
    assert sum(made_aware) / len(made_aware) > 0.7
    assert sum(hits["Ask for Clarification"]) / len(hits["Ask for Clarification"]) > 0.9
    dialogues = alarms = 0
    for path in sorted(data("eurtad/non_erroneous_dev").glob("*.json")):
        messages = users(orjson.loads(path.read_bytes())["context"])
        dialogues += 1
        alarms += any(is_bad(messages, index) for index in range(len(messages) - 1))
    assert dialogues == 373
    assert alarms / dialogues < 0.1
