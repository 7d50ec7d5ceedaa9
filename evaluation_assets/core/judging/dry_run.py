"""What a model judge would have to ask: known questions are looked up in its ledger, the others are priced."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile

import orjson

from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.model_judge import ModelJudge, OpenJudge, PendingVerdict
from evaluation_assets.core.judging.quotes import BYTES_PER_TOKEN, Question, Quote, quote, reply_tokens, typical_reply
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.llm.budget import Budget, request_tokens, size_of
from evaluation_assets.core.llm.client import Client
from evaluation_assets.core.llm.errors import Stopped
from evaluation_assets.core.llm.ledger import Entry
from evaluation_assets.core.llm.messages import Message, Request
from evaluation_assets.core.llm.prices import Pricing

_SUMMARY = 120
"""Characters of a summary that is not known yet."""

_SCORE = 45
"""Characters of a score in a reply, with its criterion."""


@contextmanager
def dry_run(judge: ModelJudge) -> Iterator["DryRun"]:
    """The judge with its ledger and without connections: it collects what it would have to ask."""
    ledger = judge.open_ledger()
    stopped = Stopped("budget", "a dry run calls no model")
    try:
        client = Client(judge.settings, None, ledger, judge.pricing, "dry run", Budget(), stopped)
        typical = typical_reply(ledger.recent(judge.provider, judge.model))
        yield DryRun(judge, client, ledger.secret(), judge.pricing, typical)
    finally:
        ledger.close()


class DryRun(OpenJudge):
    """A model judge that looks up what its ledger knows, and collects the questions that are not there.

    Where the ledger has no verdict, one of the expected length stands in the conversation instead.
    """

    def __init__(
        self, description: ModelJudge, client: Client, secret: str, pricing: Pricing, typical: float | None
    ) -> None:
        super().__init__(description, client, secret)
        self.typical = typical
        self.known: Counter[str] = Counter()
        self.new: Counter[str] = Counter()
        self._pricing = pricing
        self._questions: list[Question] = []
        self._looked_up = [0, 0]
        self._before: dict[tuple[str, int], Request] = {}

    @property
    def bytes_per_token(self) -> float | None:
        """Of the model's tokenizer on the questions that the ledger knows."""
        size, tokens = self._looked_up
        return size / tokens if tokens else None

    def quote(self) -> Quote:
        """What the questions cost that are not in the ledger."""
        return quote(self._questions, self.settings, self._pricing, self.typical, self.bytes_per_token)

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict of the ledger, else an assumed one."""
        asked = len(self._questions)
        verdict = await super().judge(subject, earlier, sample)
        if len(self._questions) == asked:
            self.known[subject.level] += verdict.from_ledger
            return verdict
        self.new[subject.level] += 1
        assumed = sum(not told.verdict.from_ledger for told in earlier if told.subject.level == subject.level)
        self._questions[-1] = replace(self._questions[-1], assumed=assumed, criteria=len(subject.criteria))
        return _assumed(subject, reply_tokens(len(subject.criteria), self.typical))

    async def _answer(self, request: Request, pending: PendingVerdict) -> Entry:
        conversation = (request.cache_key, pending.sample)
        try:
            entry = await super()._answer(request, pending)
        except Stopped:
            before = self._before.get(conversation)
            self._before[conversation] = request
            self._questions.append(
                Question(
                    size=_bytes_of(request, request.turns),
                    shared=0 if before is None else _bytes_of(request, _shared_turns(before, request)),
                    most_input=request_tokens(request),
                    assumed=0,
                    criteria=0,
                )
            )
            raise
        if entry.reply.usage.input_tokens:
            self._looked_up[0] += _bytes_of(request, request.turns)
            self._looked_up[1] += entry.reply.usage.input_tokens
        return entry


def _bytes_of(request: Request, turns: Sequence[Message]) -> int:
    schema = len(orjson.dumps(request.schema))
    return schema + size_of(request.system) + sum(size_of(turn.text) + len(turn.role) + 2 for turn in turns)


def _shared_turns(before: Request, request: Request) -> Sequence[Message]:
    """The turns that two requests of one conversation begin with."""
    pairs = zip(before.turns, request.turns, strict=False)
    return request.turns[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]


def _assumed(subject: Subject, tokens: int) -> Verdict:
    """A verdict of the expected length: in the middle of the scale, with reasoning and a sentence."""
    scale = subject.rubric.scale
    middle = scale.to_share((scale.min + scale.max) // 2)
    return Verdict(
        outcome="scored",
        scores={criterion.key: middle for criterion in subject.criteria},
        summary="s" * _SUMMARY,
        reasoning="r" * max(0, round(tokens * BYTES_PER_TOKEN) - _SUMMARY - _SCORE * len(subject.criteria)),
    )
