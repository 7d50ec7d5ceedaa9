"""OpenAI's Decisions: `POST /decisions`, typed questions about a conversation."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation_assets.core.models.messages import DecisionQuestion, Request
from evaluation_assets.core.models.providers.decisions import DecisionEndpoint, Distributions


class OpenAIDecisions(DecisionEndpoint):
    """One decision model of OpenAI."""

    path = "/decisions"

    def asked(self, request: Request) -> dict[str, Any]:
        """The conversation as messages, and the questions as a list."""
        system = [{"role": "system", "content": request.system}] if request.system else []
        asked: dict[str, Any] = {
            "model": self._model,
            "input": [*system, *({"role": turn.role, "content": turn.text} for turn in request.turns)],
            "questions": [_question(question) for question in request.questions],
        }
        return asked | ({"prompt_cache_key": request.cache_key} if self._abilities.sends_cache_key else {})

    def answered(self, answer: Any, request: Request) -> Distributions:
        """The answers, which come in the order of the questions; their names tell if one is left out."""
        by_question: dict[str, dict[str, float] | None] = {}
        for place, given in enumerate(_Decision.model_validate(answer).answers):
            question = request.questions[place] if place < len(request.questions) else None
            name = given.name or (question.name if question else f"answer {place + 1}")
            if name in by_question:
                raise ValueError("a question is answered twice")
            by_question[name] = _distribution(given, next((own for own in request.questions if own.name == name), None))
        return by_question


def _question(question: DecisionQuestion) -> dict[str, Any]:
    asked = {"type": question.kind, "name": question.name, "instructions": question.instructions}
    if question.kind == "yes_no":
        (_, no), (_, yes) = question.options
        return asked | {"type": "predicate", "instructions": f"{question.instructions}\nTrue: {yes}\nFalse: {no}"}
    if question.kind == "choice":
        return asked | {"choices": [{"value": value, "description": meaning} for value, meaning in question.options]}
    return asked | {"levels": [{"label": value, "description": meaning} for value, meaning in question.options]}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Answer(_Model):
    name: str | None = None


class _Predicate(_Answer):
    type: Literal["predicate"]
    probability: float


class _Option(_Model):
    value: str | bool
    probability: float


class _Choice(_Answer):
    type: Literal["choice"]
    probabilities: list[_Option]


class _Level(_Model):
    label: str
    probability: float


class _Score(_Answer):
    type: Literal["score"]
    probabilities: list[_Level]


class _Refusal(_Answer):
    type: Literal["refusal"]


class _Decision(_Model):
    answers: list[Annotated[_Predicate | _Choice | _Score | _Refusal, Field(discriminator="type")]]


def _distribution(given: _Answer, question: DecisionQuestion | None) -> dict[str, float] | None:
    if isinstance(given, _Predicate):
        no, yes = [value for value, _ in question.options] if question and question.kind == "yes_no" else ("no", "yes")
        return {no: 1 - given.probability, yes: given.probability}
    if isinstance(given, _Choice):
        return _by_option((str(each.value), each.probability) for each in given.probabilities)
    if isinstance(given, _Score):
        return _by_option((each.label, each.probability) for each in given.probabilities)
    return None


def _by_option(given: Iterable[tuple[str, float]]) -> dict[str, float]:
    probabilities: dict[str, float] = {}
    for option, probability in given:
        if option in probabilities:
            raise ValueError("an option has two probabilities")
        probabilities[option] = probability
    return probabilities
