"""The interface of judges, and how a panel works through conversations of subjects."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol, Self

from evaluation_assets.core.judging.defects import Defects
from evaluation_assets.core.judging.score_map import with_map
from evaluation_assets.core.judging.selection import Selection
from evaluation_assets.core.judging.storable import storable
from evaluation_assets.core.judging.subjects import Chain, Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget


@dataclass(frozen=True, slots=True)
class Judgement:
    """A subject and what one judge said about it; the number of the `sample` where it says so several times."""

    subject: Subject
    verdict: Verdict
    sample: int = 0


class Judge(Protocol):
    """A model with its settings, or a set of rules. Judges know nothing of each other."""

    @property
    def name(self) -> str:
        """Its name in the panel, and in asset keys."""
        ...

    @property
    def provider(self) -> str:
        """Who runs it."""
        ...

    @property
    def model(self) -> str:
        """What it is."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever its verdicts may: model, parameters, prompts, rules."""
        ...

    @property
    def chains_in_flight(self) -> int:
        """How many trajectories it works on at a time."""
        ...

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds its key; `None` where it needs none."""
        ...

    @property
    def samples(self) -> int:
        """How many verdicts it gives on each subject, in conversations that know nothing of each other."""
        ...

    @property
    def selection(self) -> Selection:
        """Which subjects it is asked about."""
        ...

    def opened(self, run: str, budget: Budget) -> AbstractAsyncContextManager["Judge"]:
        """The judge ready to judge in the running event loop, for one level of the run with this id.

        Judges that work side by side are given the same budget.
        """
        ...

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict on a subject, given its own verdicts on the subjects before it in the chain of this sample.

        Never raises because a model or an endpoint failed: that is a `failed` verdict.
        """
        ...


class AlwaysOpen:
    """A judge that needs no connections, or has them."""

    @asynccontextmanager
    async def opened(self, run: str, budget: Budget) -> AsyncIterator[Self]:
        """The judge."""
        yield self


class OpenedJudge(AlwaysOpen):
    """A judge at work, which is called what its description is."""

    def __init__(self, description: Judge) -> None:
        self.name, self.provider, self.model = description.name, description.provider, description.model
        self.version, self.chains_in_flight = description.version, description.chains_in_flight
        self.samples, self.key_variable = description.samples, description.key_variable
        self.selection = description.selection


class Gate(Protocol):
    """Decides which subjects of a chain a judge is spared, once other judges have judged them."""

    async def spared(self, chain: Chain) -> frozenset[str]:
        """The names of the subjects of a chain that the judge is not asked about."""
        ...

    def finished(self, chain: Chain, judgements: Sequence[Judgement]) -> None:
        """Take what the judge said about a chain."""
        ...


class _Open:
    """Every subject is asked about."""

    async def spared(self, chain: Chain) -> frozenset[str]:
        return frozenset()

    def finished(self, chain: Chain, judgements: Sequence[Judgement]) -> None:
        pass


OPEN = _Open()


async def judge_chains(
    judge: Judge,
    chains: Iterable[Chain],
    judged: Callable[[Judgement], object] = lambda _: None,
    gate: Gate = OPEN,
) -> AsyncIterator[list[Judgement]]:
    """Judge chains side by side and the subjects of each in order; the results come in the order of the chains.

    All samples of a subject come together, in their order. `judged` is called with each as soon as it is there.
    Subjects that the `gate` spares have no result.

    `chains` is read only as far as the judge keeps up, so that memory does not grow with their number.
    """
    defects = Defects(judge.name, judge.key_variable)
    if judge.chains_in_flight == 1:  # a task for each chain would take longer than rules take to judge it
        for chain in chains:
            yield await _judge_chain(judge, chain, judged, defects, gate)
            await asyncio.sleep(0)  # other judges of the panel wait for their replies in the same event loop
        return
    running: deque[asyncio.Task[list[Judgement]]] = deque()
    try:
        for chain in chains:
            running.append(asyncio.create_task(_judge_chain(judge, chain, judged, defects, gate)))
            if len(running) >= judge.chains_in_flight:
                yield await _first(running)
        while running:
            yield await _first(running)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _first(running: deque[asyncio.Task[list[Judgement]]]) -> list[Judgement]:
    """The first chain's results. Cancelled, it leaves the chain running: all chains are to be cancelled together."""
    await asyncio.wait([running[0]])
    return await running.popleft()


async def _judge_chain(
    judge: Judge, chain: Chain, judged: Callable[[Judgement], object], defects: Defects, gate: Gate
) -> list[Judgement]:
    spared = await gate.spared(chain)
    if judge.samples == 1:
        samples = [await _conversation(judge, chain, 0, judged, defects, spared)]
    else:
        conversations = (_conversation(judge, chain, each, judged, defects, spared) for each in range(judge.samples))
        samples = await asyncio.gather(*conversations)
    judgements = [judgement for of_subject in zip(*samples, strict=True) for judgement in of_subject]
    gate.finished(chain, judgements)
    return judgements


async def _conversation(
    judge: Judge,
    chain: Chain,
    sample: int,
    judged: Callable[[Judgement], object],
    defects: Defects,
    spared: frozenset[str],
) -> list[Judgement]:
    subjects = chain.of_sample(sample)
    last = max((position for position, subject in enumerate(subjects) if subject.name not in spared), default=-1)
    conversation: list[Judgement] = []
    judgements: list[Judgement] = []
    for subject in subjects[: last + 1]:
        if subject.name in spared:
            # It stays in the conversation without an evaluation: later subjects are judged by what was before them.
            conversation.append(Judgement(subject, Verdict(outcome="not_run"), sample))
            continue
        try:
            verdict = storable(await judge.judge(subject, conversation, sample))
            verdict = with_map(verdict, subject, judge.selection.score_map)
        except Exception as problem:  # noqa: BLE001  # a judge with a defect must not take the panel down
            verdict = defects.verdict(problem)
        if not verdict.scores and verdict.outcome in ("failed", "not_run"):  # it stays among what was asked about
            verdict = replace(verdict, scores=subject.unscored)
        judgements.append(Judgement(subject, verdict, sample))
        conversation.append(judgements[-1])
        judged(judgements[-1])
    return judgements
