"""The model of a judge, as metrics of other packages call it: through our ledger, limits, retries and budget."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

from evaluation_assets.core.judging.evaluators.structured import object_in, strict
from evaluation_assets.core.judging.reading import reading
from evaluation_assets.core.judging.replies import InvalidReply, refuse_unfinished, said_in
from evaluation_assets.core.judging.windows import estimated_tokens
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.errors import ProviderError, Stopped
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.models.messages import Message, Request, Role
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.traces.trajectories.identity import digest


class NotOffered(Exception):
    """A metric needs what judges do not have: embeddings, tools, images. The message says what."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a prompt: `role` is `system`, `user` or `assistant`."""

    role: str
    text: str


class ChatModel(Protocol):
    """What a metric may ask of the judge's model."""

    @property
    def name(self) -> str:
        """The model."""
        ...

    async def ask(self, messages: Sequence[Said], schema: Mapping[str, Any] | None = None) -> str:
        """The reply to a conversation: text, or with a schema the JSON of an object that fits it.

        Raises:
            ProviderError: the endpoint gave no reply.
            Stopped: nothing more is asked in this run.
            InvalidReply: the reply is cut, refused, or does not fit the schema.
        """
        ...

    def refuse(self, what: str) -> NoReturn:
        """Fail the verdict because the metric needs what judges do not have.

        Raises:
            NotOffered: always.
        """
        ...


class NoModel:
    """The model of judges with `provider: python`: a metric that asks it fails."""

    name = "none"

    def __init__(self) -> None:
        self.problem: Exception | None = None

    async def ask(self, messages: Sequence[Said], schema: Mapping[str, Any] | None = None) -> str:
        self.refuse("a model: set provider and model of the judge")

    def refuse(self, what: str) -> NoReturn:
        self.problem = NotOffered(f"the metric needs {what}")
        raise self.problem


class AskedModel:
    """A model that is asked for one verdict.

    `cost` is what its replies took, `problem` the first failure, `requests` what was asked, by its address in the
    ledger; of these, `unanswered` were not sent because the judge has stopped. `recalled` is whether an earlier run
    paid for one of the replies; a model that `asks_again` uses replies of its own run alone. Packages may catch what a
    model raises and score it; the caller therefore looks at `problem` first.
    """

    def __init__(
        self,
        client: Client,
        settings: ModelSettings,
        cost: Cost,
        sample: int,
        *,
        later: int,
        asks_again: bool = False,
    ) -> None:
        self.cost = cost
        self.problem: Exception | None = None
        self.requests: dict[str, Request] = {}
        self.unanswered: set[str] = set()
        self.recalled = False
        self._asks_again = asks_again
        self._client = client
        self._settings = settings
        self._sample = sample
        self._later = later
        self._times: Counter[bytes] = Counter()

    @property
    def name(self) -> str:
        return self._settings.model

    async def ask(self, messages: Sequence[Said], schema: Mapping[str, Any] | None = None) -> str:
        """The reply to a conversation; a reply that does not fit the schema is corrected once."""
        try:
            return await self._asked(messages, None if schema is None else strict(schema))
        except (ProviderError, Stopped, InvalidReply) as problem:
            self.problem = self.problem or problem
            raise

    def refuse(self, what: str) -> NoReturn:
        problem = NotOffered(f"the metric needs {what}, which judges do not offer")
        self.problem = self.problem or problem
        raise problem

    async def _asked(self, messages: Sequence[Said], schema: Mapping[str, Any] | None) -> str:
        system, turns = _conversation(messages)
        request = Request(
            system=system,
            turns=turns,
            schema=schema,
            max_output_tokens=self._settings.max_output_tokens,
            cache_key=digest(system, turns[0].text),
            parameters=self._settings.parameters,
        )
        entry = await self._answer(request)
        try:
            with reading(entry, self._client):
                return _read(entry, schema)
        except InvalidReply as problem:
            if problem.kind != "invalid_json":
                raise
            wrong = f"Your reply cannot be used: {problem} Reply again with only the JSON object."
            more = Message("assistant", said_in(entry.reply) or "(empty)"), Message("user", wrong)
            entry = await self._answer(replace(request, turns=(*turns, *more)))
        with reading(entry, self._client):
            return _read(entry, schema)

    async def _answer(self, request: Request) -> Entry:
        own = self._settings
        tokens = estimated_tokens(request.system, *(turn.text for turn in request.turns))
        if tokens > own.max_input_tokens:
            raise ProviderError(
                "context_length", "the metric's prompt is longer than max_input_tokens", retryable=False
            )
        asked: dict[str, Any] = {
            "system": request.system,
            "turns": [[turn.role, turn.text] for turn in request.turns],
            "schema": request.schema,
            "sample": self._sample,
        }
        question = dumped(asked)
        if time := self._times[question]:  # metrics that ask the same several times want several replies
            asked["time"] = time
        self._times[question] += 1

        def usable(entries: Sequence[Entry]) -> Entry | None:
            """One that can be read; of this run also one that cannot, so that it is not paid twice."""
            own = (each for each in entries if each.run == self._client.run)
            earlier = (each for each in entries if not self._asks_again and _fits(each, request.schema))
            return next(own, None) or next(earlier, None)

        try:
            answered = await self._client.ask(asked, request, usable, self.cost, left=self._later, tokens=tokens)
        except Stopped:
            key = self._client.key_of(asked, request)
            self.requests[key] = request
            self.unanswered.add(key)
            raise
        self.requests[answered.key] = request
        self.recalled |= answered.entry.run != self._client.run
        self.cost.add(answered.key, answered.entry, from_ledger=answered.from_ledger)
        return answered.entry


def _read(entry: Entry, schema: Mapping[str, Any] | None) -> str:
    refuse_unfinished(entry.reply)
    text = said_in(entry.reply)
    return text if schema is None else dumped(object_in(text, schema)).decode()


def _fits(entry: Entry, schema: Mapping[str, Any] | None) -> bool:
    try:
        _read(entry, schema)
    except InvalidReply:
        return False
    return True


def _conversation(messages: Sequence[Said]) -> tuple[str, tuple[Message, ...]]:
    """System text and turns that alternate; a prompt of system text alone is a message of the user."""
    system = "\n\n".join(each.text for each in messages if each.role in ("system", "developer"))
    turns: list[Message] = []
    for each in messages:
        if each.role in ("system", "developer"):
            continue
        role: Role = "assistant" if each.role == "assistant" else "user"
        if turns and turns[-1].role == role:
            turns[-1] = Message(role, f"{turns[-1].text}\n\n{each.text}")
        else:
            turns.append(Message(role, each.text))
    return (system, tuple(turns)) if turns else ("", (Message("user", system),))
