"""How a model is asked for verdicts, and how its replies are read: language models write, decision models choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import orjson

from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.messages import DecisionQuestion, Reply
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.models.sizes import size_of, text_of_question


@dataclass(frozen=True, kw_only=True)
class AskedFor:
    """What a request asks for: JSON of a schema, or answers to questions."""

    schema: Mapping[str, Any] | None = None
    questions: tuple[DecisionQuestion, ...] = ()

    @cached_property
    def size(self) -> int:
        """Bytes in a request."""
        schema = 0 if self.schema is None else len(orjson.dumps(self.schema))
        return schema + sum(size_of(text_of_question(question)) for question in self.questions)


class Form(Protocol):
    """What differs between kinds of models.

    `version` changes with the words. A model that `writes` has replies of some length, which may be cut or invalid; it
    is asked for these again.
    """

    @property
    def version(self) -> str:
        """Of the words and the way of asking."""
        ...

    @property
    def writes(self) -> bool:
        """Whether it writes text."""
        ...

    def system(self, subject: Subject, fence: str) -> str:
        """The system prompt, the same along a chain."""
        ...

    def asked_for(self, subject: Subject) -> AskedFor:
        """What is asked about a subject."""
        ...

    def evaluation(self, reply: Reply, subject: Subject) -> Verdict:
        """The evaluation in a reply about a subject.

        Raises:
            InvalidReply: it is not what was asked for.
        """
        ...

    def turn(self, judgement: Judgement) -> str:
        """The judge's own verdict on an earlier subject, as it stands in the conversation."""
        ...

    def line(self, judgement: Judgement) -> str:
        """The same in one line, once the conversation outgrows the window."""
        ...


def form_of(provider: str, model: str) -> Form:
    """How a model of a provider is asked."""
    # Both modules import this one.
    from evaluation_assets.core.judging.decisions.form import DECIDED  # noqa: PLC0415
    from evaluation_assets.core.judging.prompts import WRITTEN  # noqa: PLC0415

    return DECIDED if capabilities_of(provider, model).decides else WRITTEN
