"""What a model judge would have to ask: known questions are looked up in its ledger, the others are priced."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import takewhile

from evaluation_assets.core.judging.answer_claims import CLAIMS
from evaluation_assets.core.judging.densities import remembered_density
from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.model_judge import ModelJudge, OpenJudge
from evaluation_assets.core.judging.prompts import verdict_text
from evaluation_assets.core.judging.questions import PendingVerdict
from evaluation_assets.core.judging.quotes import (
    BYTES_PER_TOKEN,
    Question,
    Quote,
    ReplyLengths,
    question_bytes,
    quote,
)
from evaluation_assets.core.judging.selection import EVERY_LEVEL
from evaluation_assets.core.judging.subjects import OwnScores, Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.batch_items import BatchItems
from evaluation_assets.core.models.budget import Budget, request_tokens
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.errors import Stopped
from evaluation_assets.core.models.image_tokens import image_tokens, images_of
from evaluation_assets.core.models.ledger import Entry, Ledger
from evaluation_assets.core.models.messages import Message, Request
from evaluation_assets.core.models.sizes import size_of
from evaluation_assets.core.text.nullable import mean_of

_REPLIES_READ = 2000
"""Newest replies of the model that tell how long its replies are: enough for every level of a drop."""

_SUMMARY = 120
"""Characters of a summary that is not known yet."""


@contextmanager
def dry_run(judge: ModelJudge) -> Iterator["DryRun"]:
    """The judge with its ledger and without connections: it collects what it would have to ask."""
    with stopped_client(judge) as (client, ledger):
        yield DryRun(judge, client, ledger)


@contextmanager
def stopped_client(judge: ModelJudge) -> Iterator[tuple[Client, Ledger]]:
    """The judge's ledger, and a client that answers only what the ledger knows."""
    stopped = Stopped("budget", "a dry run calls no model")
    with (
        closing(judge.open_ledger()) as ledger,
        closing(Client(judge.settings, None, ledger, judge.pricing, "dry run", Budget(), stopped)) as client,
    ):
        yield client, ledger


class DryRun(OpenJudge):
    """A model judge that looks up what its ledger knows, and collects the questions that are not there.

    Where the ledger has no verdict, one of the expected length stands in the conversation instead.
    """

    def __init__(self, description: ModelJudge, client: Client, ledger: Ledger) -> None:
        super().__init__(description, client, ledger.secret())
        self.lengths = ReplyLengths(ledger.recent(self.provider, self.model, _REPLIES_READ))
        self.known: Counter[str] = Counter()
        self.questions: list[Question] = []
        self._ledger = ledger
        self._pricing = description.pricing
        self._remembered: dict[str, float | None] = {}
        self._before: dict[tuple[str, int], Request] = {}
        self._asked: set[str] = set()
        self._words: set[int] = set()
        self._items = BatchItems(ledger)
        self._has_batches = self._items.any()

    def bytes_per_token(self, level: str) -> float | None:
        """Of the model's tokenizer on questions of a level: those of this drop in the ledger, else earlier ones.

        If no question of the level was ever answered, of other levels; `None` if no question was.
        """
        if (own := self._measured(level)) is not None:
            return own
        return mean_of(self._measured(other) for other in EVERY_LEVEL)

    def _measured(self, level: str) -> float | None:
        if (here := self.densities.of(level)) is not None:
            return here
        if level not in self._remembered:
            self._remembered[level] = remembered_density(self._ledger, self.provider, self.model, level)
        return self._remembered[level]

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict of the ledger, else an assumed one."""
        asked = len(self.questions)
        verdict = await super().judge(subject, earlier, sample)
        if verdict.error_kind != "budget":
            self.known[subject.level] += verdict.from_ledger
            return verdict
        also = (CLAIMS,) if subject.asks_claims else ()
        reply = self.lengths.expected((*subject.asked, *also)) if self._form.writes else 0
        if len(self.questions) > asked:
            assumed = sum(not told.verdict.from_ledger for told in earlier if told.subject.level == subject.level)
            question = replace(self.questions[-1], assumed=assumed, reply=reply)
            # A sample is shown its own scores, which are not known yet: they begin otherwise than those of the first.
            differs = sample and not earlier and subject.own != OwnScores()
            self.questions[-1] = replace(question, shared=0) if differs else question
        density = self.bytes_per_token(subject.level) or BYTES_PER_TOKEN
        return _assumed(subject, reply, density)

    async def _answer(self, request: Request, pending: PendingVerdict) -> Entry:
        conversation = (request.cache_key, pending.sample)
        before = self._before.get(conversation)
        try:
            return await super()._answer(request, pending)
        except Stopped:
            key = self.client.key_of(pending.asked(request), request)
            if key in self._asked:
                raise
            if self._has_batches and key in self._items.under_way([key]):
                self._asked.add(key)
                self.known[pending.level] += 1  # it is paid for, and waited for
                raise
            words = self.words_of(request, pending)
            if before is None and words in self._words:
                before = request  # another sample has just asked it
            self._asked.add(key)
            self._words.add(words)
            shared = 0 if before is None else question_bytes(request, _shared_turns(before, request))
            self.questions.append(
                Question(
                    level=pending.level,
                    size=question_bytes(request, request.turns),
                    shared=shared,
                    most_input=request_tokens(request),
                    images=image_tokens(images_of(request), self.provider, self.model),
                )
            )
            self._before[conversation] = request
            raise

    def priced(self, questions: Sequence[Question]) -> dict[str, Quote]:
        """What these of the questions cost, by level."""
        by_level: dict[str, list[Question]] = {}
        for each in questions:
            measured = replace(each, bytes_per_token=self.bytes_per_token(each.level) or BYTES_PER_TOKEN)
            by_level.setdefault(each.level, []).append(measured)
        return {level: quote(asked, self.settings, self._pricing) for level, asked in by_level.items()}


def _shared_turns(before: Request, request: Request) -> Sequence[Message]:
    """The turns that two requests of one conversation begin with."""
    pairs = zip(before.turns, request.turns, strict=False)
    return request.turns[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]


def _assumed(subject: Subject, tokens: int, bytes_per_token: float) -> Verdict:
    """A verdict of the expected length: in the middle of the scale, with reasoning and a sentence."""
    scale = subject.rubric.scale
    middle = 0.5 if scale.continuous else scale.to_share((scale.min + scale.max) // 2)
    bare = Verdict(
        outcome="scored",
        scores={criterion.key: middle for criterion in subject.criteria},
        summary="s" * _SUMMARY,
    )
    missing = round(tokens * bytes_per_token) - size_of(verdict_text(Judgement(subject, bare)))
    return replace(bare, reasoning="r" * max(0, missing))
