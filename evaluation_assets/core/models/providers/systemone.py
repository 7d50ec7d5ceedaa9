"""The System One protocol: `POST /v1/systemone`, at TypeSafe, Databricks, OpenRouter and local servers."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation_assets.core.models.messages import DecisionQuestion, Request
from evaluation_assets.core.models.providers.decisions import DecisionEndpoint, Distributions


class SystemOne(DecisionEndpoint):
    """One decision model behind a System One endpoint."""

    path = "/systemone"

    def asked(self, request: Request) -> dict[str, Any]:
        """The conversation as the state that the questions are about."""
        messages = [{"role": turn.role, "content": turn.text} for turn in request.turns]
        return {
            "model": self._model,
            "state": {"system": request.system, "messages": messages} if request.system else {"messages": messages},
            "questions": {question.name: _question(question) for question in request.questions},
        }

    def answered(self, answer: Any, request: Request) -> Distributions:
        """The answers by the names of their questions."""
        asked = {question.name: question for question in request.questions}
        answers = _Decision.model_validate(answer).answers
        return {name: _distribution(given, asked.get(name)) for name, given in answers.items()}


def _question(question: DecisionQuestion) -> dict[str, Any]:
    asked: dict[str, Any] = {"type": question.kind, "instructions": question.instructions}
    if question.kind == "yes_no":
        (_, no), (_, yes) = question.options
        return asked | {"type": "noul", "criteria": {"true": yes, "false": no}}
    if question.kind == "choice":
        return asked | {"criteria": dict(question.options)}
    return asked | {"criteria": [meaning for _, meaning in question.options]}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Noul(_Model):
    type: Literal["noul"]
    noul: float


class _Options(_Model):
    """A choice by its options, or a score by the positions of its levels."""

    type: Literal["choice", "score"]
    probabilities: dict[str, float]


class _Decision(_Model):
    answers: dict[str, Annotated[_Noul | _Options, Field(discriminator="type")]]


def _distribution(given: _Noul | _Options, question: DecisionQuestion | None) -> dict[str, float]:
    if isinstance(given, _Noul):
        no, yes = [value for value, _ in question.options] if question and question.kind == "yes_no" else ("no", "yes")
        return {no: 1 - given.noul, yes: given.noul}
    if given.type == "choice":
        return given.probabilities
    values = {str(place): value for place, (value, _) in enumerate(question.options if question else ())}
    return {values.get(place, place): probability for place, probability in given.probabilities.items()}
