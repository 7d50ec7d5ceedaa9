"""A judge that is a model: asks, pays once, reads the reply, and never turns a failure into a score."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from evaluation_assets.core.judging.densities import Densities
from evaluation_assets.core.judging.forms import Form
from evaluation_assets.core.judging.judge import Judge, Judgement, OpenedJudge
from evaluation_assets.core.judging.prompts import WRITTEN, Rendered, render, repair_turns
from evaluation_assets.core.judging.questions import PendingVerdict, goes_into_a_batch
from evaluation_assets.core.judging.quotes import question_bytes
from evaluation_assets.core.judging.reading import reading
from evaluation_assets.core.judging.replies import InvalidReply, said_in
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.shared_rendering import shared_rendering
from evaluation_assets.core.judging.shown_texts import ShownText
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdict_cost import with_cost
from evaluation_assets.core.judging.verdicts import Outcome, Verdict
from evaluation_assets.core.judging.windows import estimated_tokens
from evaluation_assets.core.models.batches import MOST_IN_A_BATCH, Batches
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.errors import LedgerError, ProviderError, Stopped
from evaluation_assets.core.models.image_tokens import images_of, most_image_tokens
from evaluation_assets.core.models.ledger import Entry, Ledger
from evaluation_assets.core.models.ledger_outage import opened_when_it_answers
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.models.providers.base import Provider
from evaluation_assets.core.models.providers.sdk_errors import with_variable
from evaluation_assets.core.models.redaction.redactor import NotRedacted
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.models.sizes import text_of_question
from evaluation_assets.core.models.unusable_replies import UnusableReplies
from evaluation_assets.core.traces.prices import Pricing
from evaluation_assets.core.traces.trajectories.identity import digest

_SHORTER_WINDOW = 0.5
"""What is tried when an endpoint says that a request is too long: half of it holds at 1.5 bytes a token."""


class ModelJudge:
    """One model of the panel.

    Outside of `opened` it is only a description; inside it has connections in the running event loop.
    """

    def __init__(
        self,
        settings: ModelSettings,
        connect: Callable[[], Provider],
        ledger: Callable[[], Ledger],
        pricing: Pricing,
        samples: int = 1,
        selection: Selection = EVERYTHING,
        *,
        in_batches: bool = False,
        redaction: Redaction | None = None,
        form: Form = WRITTEN,
    ) -> None:
        self.settings = settings
        self.form = form
        self.redaction = Redaction() if redaction is None else redaction
        self.in_batches = in_batches
        self.samples = samples
        self.selection = selection
        self._connect = connect
        self.open_ledger = ledger
        self.pricing = pricing
        self._replies = UnusableReplies()
        self._endpoint_was_dead = False
        self._ledger_was_away = False

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def provider(self) -> str:
        return self.settings.provider

    @property
    def model(self) -> str:
        return self.settings.model

    @property
    def version(self) -> str:
        """Everything that decides what is asked, but the rubrics."""
        own = self.settings
        parameters = repr(sorted(own.parameters.items()))
        more = [str(value) for value in own.dialect.differences(own.usual).values()]
        if not self.redaction.is_usual:
            more.append(self.redaction.fingerprint)
        return digest(self.form.version, own.provider, own.model, own.endpoint, parameters, str(self.samples), *more)

    @property
    def key_variable(self) -> str | None:
        return self.settings.key_variable

    @property
    def chains_in_flight(self) -> int:
        """More than there are slots: results come in order, and a slow chain must not keep slots empty."""
        return max(self.settings.max_concurrency * 4, MOST_IN_A_BATCH if self.in_batches else 0)

    @asynccontextmanager
    async def opened(self, run: str, budget: Budget) -> AsyncIterator[Judge]:
        """The judge with open connections, for one level of one run. An endpoint that was dead is tried once."""
        try:
            ledger = await self._opened_ledger()
            spent, secret = (ledger.spent(run), ledger.calls(run)), ledger.secret()
        except LedgerError as problem:
            yield _SilentJudge(self, Stopped("ledger", str(problem)))
            return
        self._replies.begin(run)
        try:
            provider: Provider | None = self._connect()
            stopped = self._replies.stopped
        except ProviderError as problem:  # no key: every verdict says so, and the panel goes on
            provider, stopped = None, Stopped(problem.kind, str(problem))
        budget.begin_at(*spent)
        client = Client(
            self.settings,
            provider,
            ledger,
            self.pricing,
            run,
            budget,
            stopped,
            suspicious=self._endpoint_was_dead,
            replies=self._replies,
        )
        batches = None
        if provider is not None and stopped is None:
            with suppress(LedgerError):
                batches = Batches.of(
                    provider, self.settings, client, ledger, self.pricing, budget, submits=self.in_batches
                )
        ready = OpenJudge(self, client, secret, batches)
        try:
            yield ready
        finally:
            if batches is not None:
                await batches.close()
            with suppress(LedgerError):  # an estimate is not worth a failure
                ready.densities.remember(ledger, self.provider, self.model)
            self._endpoint_was_dead = client.circuit.is_open
            client.close()
            if provider is not None:
                await provider.close()
            ledger.close()

    async def _opened_ledger(self) -> Ledger:
        """The ledger. A server that stays away is waited for by the first level of a run only."""
        patience = 0.0 if self._ledger_was_away else self.settings.timeouts.ledger_s
        self._ledger_was_away = True
        ledger = await opened_when_it_answers(self.open_ledger, patience)
        self._ledger_was_away = False
        return ledger

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        raise RuntimeError("a model judge judges inside `opened` only")


class _SilentJudge(OpenedJudge):
    """A model judge without a ledger: it asks nothing, and every verdict says why."""

    def __init__(self, description: ModelJudge, why: Stopped) -> None:
        super().__init__(description)
        self._why = why

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """No verdict."""
        return Verdict(outcome="not_run", error_kind=self._why.kind, error=str(self._why))


class OpenJudge(OpenedJudge):
    """A model judge at work."""

    def __init__(self, description: ModelJudge, client: Client, secret: str, batches: Batches | None = None) -> None:
        super().__init__(description)
        own = description.settings
        self.settings = own
        self.client = client
        most = 2 * description.chains_in_flight
        self._rendering = shared_rendering(secret, own.max_input_tokens, description.redaction, description.form, most)
        self._form = self._rendering.form
        self._batches = batches
        self._asking: dict[int, asyncio.Event] = {}
        self.densities = Densities()

    def shown(self, subject: Subject) -> ShownText:
        """How the texts of a subject are shown to the model.

        Raises:
            NotRedacted: a text of its trajectory cannot be searched.
        """
        return self._rendering.texts.of(subject.trajectory)

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict on a subject; whatever goes wrong is in it."""
        window = self.settings.max_input_tokens
        try:
            show = self.shown(subject)
            rendered = render(subject, earlier, show.fence, window, self._rendering.pieces, show, self._form)
        except NotRedacted as problem:
            return Verdict(outcome="failed", error_kind="redaction", error=str(problem))
        cost = Cost()
        try:
            try:
                verdict = await self._evaluate(subject, rendered, window, sample, cost)
            except ProviderError as problem:
                if problem.kind != "context_length" or rendered.tokens > window:
                    raise
                # Digits, hashes and some scripts have more tokens than their bytes let expect.
                window = int(window * _SHORTER_WINDOW)
                rendered = render(subject, earlier, show.fence, window, None, show, self._form)
                verdict = await self._evaluate(subject, rendered, window, sample, cost)
        except (Stopped, ProviderError, InvalidReply) as problem:
            outcome: Outcome = "not_run" if isinstance(problem, Stopped) else "failed"
            said = with_variable(str(problem), self.key_variable)
            return _asked(Verdict(outcome=outcome, error_kind=problem.kind, error=said), rendered, cost)
        notes, redacted = (*verdict.notes, *rendered.notes), show.counts(rendered.turns[-1].text)
        return _asked(replace(verdict, notes=notes, redacted=redacted), rendered, cost)

    async def _evaluate(self, subject: Subject, rendered: Rendered, window: int, sample: int, cost: Cost) -> Verdict:
        """Ask; when the reply is not valid, say what is wrong with it, once."""
        if rendered.tokens > window:
            raise ProviderError("context_length", "too long even when cut: raise max_input_tokens", retryable=False)
        asked_for = self._form.asked_for(subject)
        request = Request(
            system=rendered.system,
            turns=rendered.turns,
            schema=asked_for.schema,
            questions=asked_for.questions,
            max_output_tokens=self.settings.max_output_tokens,
            cache_key=digest(subject.trajectory.text, self.name, subject.level),
            parameters=self.settings.parameters,
        )

        def read(entry: Entry) -> Verdict:
            return self._form.evaluation(entry.reply, subject)

        def corrected(request: Request, entry: Entry, problem: InvalidReply) -> Request:
            said = repair_turns(rendered, said_in(entry.reply), str(problem), window)
            return replace(request, turns=(*request.turns, *said))

        pending = PendingVerdict(
            level=subject.level,
            sample=sample,
            read=read,
            corrected=corrected,
            left=subject.later,
            deadline=self.client.deadline(),
            cost=cost,
            in_batch=goes_into_a_batch(subject),
        )
        request, entry = await self._whole(request, pending)
        try:
            with reading(entry, self.client):
                return read(entry)
        except InvalidReply as problem:
            if not self._may_be_corrected(entry):
                raise
            _, entry = await self._whole(corrected(request, entry, problem), pending)
        with reading(entry, self.client):
            return read(entry)

    async def _whole(self, request: Request, pending: PendingVerdict) -> tuple[Request, Entry]:
        """The reply to a question; with twice the limit of tokens where it was cut at the usual one.

        The request that was answered comes along: what is asked after it has the same limit.
        """
        entry = await self._answer(request, pending)
        if entry.reply.finish != "length" or not self._may_be_longer(request):
            return request, entry
        longer = replace(request, max_output_tokens=2 * request.max_output_tokens)
        try:
            return longer, await self._answer(longer, pending)
        except ProviderError as problem:
            if problem.retryable:
                raise
            first, second = request.max_output_tokens, longer.max_output_tokens
            message = f"the reply was cut at {first} output tokens, and the endpoint does not take {second}: {problem}"
            raise InvalidReply("truncated", message) from None  # it cannot write that much, or has no room for it

    async def _answer(self, request: Request, pending: PendingVerdict) -> Entry:
        """The reply to a question, counted in what the verdict took."""

        def usable(entries: Sequence[Entry]) -> Entry | None:
            """One that can be read, or was corrected; of this run also one that cannot, so that it is not paid twice.

            One that was cut is enough to know that the limit has to be raised.
            """
            spare: Entry | None = None
            for entry in entries:
                try:
                    pending.read(entry)
                except InvalidReply as problem:
                    if self._is_final(entry) or self._was_corrected(request, entry, problem, pending):
                        return entry
                    if problem.kind == "truncated" and self._may_be_longer(request):
                        spare = spare or entry
                    continue
                return entry
            return spare

        asked = pending.asked(request)
        texts = (request.system, *(turn.text for turn in request.turns), *map(text_of_question, request.questions))
        images = images_of(request)
        tokens = estimated_tokens(*texts) + most_image_tokens(images)
        answered = None
        if self._batches is not None and pending.in_batch and not pending.cost.keys:
            clock = asyncio.get_running_loop().time
            began = clock()
            answered = await self._batches.ask(asked, request, usable, pending.cost)
            pending.deadline.postpone(clock() - began)
        if answered is None:
            async with self._after_the_same(request, pending):
                answered = await self.client.ask(
                    asked,
                    request,
                    usable,
                    pending.cost,
                    left=pending.left,
                    tokens=tokens,
                    deadline=pending.deadline,
                )
        pending.cost.add(answered.key, answered.entry, from_ledger=answered.from_ledger)
        used = answered.entry.reply.usage.input_tokens
        if used and not images and self.densities.wants(pending.level):
            self.densities.add(pending.level, question_bytes(request, request.turns), used)
        return answered.entry

    @asynccontextmanager
    async def _after_the_same(self, request: Request, pending: PendingVerdict) -> AsyncIterator[None]:
        """Wait for a sample that is asking in the same words; then the provider's cache serves this one.

        Side by side, each would pay for all of it.
        """
        words = self.words_of(request, pending)
        if (asking := self._asking.get(words)) is not None:
            clock = asyncio.get_running_loop().time
            began = clock()
            await asking.wait()
            pending.deadline.postpone(clock() - began)
            yield
            return
        asking = self._asking[words] = asyncio.Event()
        try:
            yield
        finally:
            asking.set()
            del self._asking[words]

    @staticmethod
    def words_of(request: Request, pending: PendingVerdict) -> int:
        """The same for all samples that ask in the same words."""
        turns = tuple((turn.role, turn.text, *(image.digest for image in turn.images)) for turn in request.turns)
        return hash((pending.level, request.system, turns, request.questions, request.max_output_tokens))

    def _is_final(self, entry: Entry) -> bool:
        """Whether a reply that cannot be read is not asked for again, but corrected."""
        return entry.run == self.client.run

    def _may_be_corrected(self, entry: Entry) -> bool:
        return entry.reply.finish == "stop" and self._form.writes

    def _was_corrected(self, request: Request, entry: Entry, problem: InvalidReply, pending: PendingVerdict) -> bool:
        """Whether an earlier run has paid for the correction of a reply, too."""
        if not self._may_be_corrected(entry):
            return False
        asked = pending.corrected(request, entry, problem)
        return self.client.known(pending.asked(asked), asked, pending.readable) is not None

    def _may_be_longer(self, request: Request) -> bool:
        """Whether the reply's limit can be doubled: it was not, and no parameter of the panel replaces it."""
        own = self.settings
        return request.max_output_tokens == own.max_output_tokens and not own.parameters.keys() & _LIMITS


_LIMITS = {"max_tokens", "max_completion_tokens"}


def _asked(verdict: Verdict, rendered: Rendered, cost: Cost) -> Verdict:
    """The verdict with what was asked, and what that took."""
    if cost.keys:
        verdict = replace(verdict, share_seen=rendered.share_seen, prompt_length=rendered.length)
    return with_cost(verdict, cost)
