"""What protocols of decision models share: typed questions about a conversation, answered with probabilities.

A reply holds, as JSON, the probability of every option of every question; `null` is a refusal. The confidence that
providers add is theirs, on no common scale, and not kept.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.messages import Reply, Request
from evaluation_assets.core.models.providers.base import name_of
from evaluation_assets.core.models.providers.openai_endpoint import OpenAIEndpoint
from evaluation_assets.core.models.providers.sdk_errors import answer_in
from evaluation_assets.core.models.usage import reported

Distributions = Mapping[str, Mapping[str, float] | None]
"""By question: the probability of each option; `None` where the model refused to answer."""


class DecisionEndpoint(OpenAIEndpoint):
    """One decision model, asked through OpenAI's client: its connections, errors and limits are those of other models.

    Subclasses say where their protocol is, what it is sent, and what an answer of it holds.
    """

    path: ClassVar[str]

    def asked(self, request: Request) -> dict[str, Any]:
        """The model, the conversation and the questions as the protocol has them."""
        raise NotImplementedError

    def answered(self, answer: Any, request: Request) -> Distributions:
        """What the model answered.

        Raises:
            pydantic.ValidationError: it is no answer of the protocol.
        """
        raise NotImplementedError

    def body(self, request: Request, dialect: Dialect | None = None, *, in_batch: bool = False) -> dict[str, Any]:
        """What is sent; these protocols have no dialects and no batches."""
        return {**self.asked(request), **request.parameters}

    async def complete(self, request: Request, dialect: Dialect) -> Reply:
        """Send a request once."""
        with self._translated():
            sent = dumped(self.body(request))
            given = await self._client.post(self.path, content=sent, cast_to=object)
            return self._reply(answer_in(given, self._mask), request)

    def batches(self) -> None:
        """There are none."""

    def _reply(self, answer: Any, request: Request) -> Reply:
        distributions = self.answered(answer, request)
        usage, problem = reported(_counts(answer.get("usage")))
        return Reply(
            text=dumped(distributions).decode(),
            finish="stop",
            usage=usage,
            usage_problem=problem,
            served_model=name_of(answer.get("model")),
        )


def _counts(given: Any) -> dict[str, Any]:
    """The tokens that both protocols report by the same names; OpenAI's adds what its cache served and stored."""
    usage = given if isinstance(given, dict) else {}
    details = usage.get("input_tokens_details")
    cache = details if isinstance(details, dict) else {}
    return {name: usage.get(name) for name in ("input_tokens", "output_tokens")} | {
        name: cache.get(name) for name in ("cached_tokens", "cache_write_tokens")
    }
