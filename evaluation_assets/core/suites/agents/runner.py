"""Run an agent on a suite: concurrent attempts, replies through the ledger, and a drop at the end."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes, published
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.endpoints import EndpointSettings, endpoint_of
from evaluation_assets.core.models.errors import REFUSED_FOR_ALL, ProviderError, Stopped
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.known_replies import Answered
from evaluation_assets.core.models.ledger import Entry, Ledger
from evaluation_assets.core.models.messages import Message, Request
from evaluation_assets.core.suites.agents.calculator import calculator
from evaluation_assets.core.suites.agents.conversation import (
    Attempt,
    Conversation,
    Ended,
    begun,
    trajectory_id,
    trajectory_of,
)
from evaluation_assets.core.suites.agents.journal import AttemptKey, Journal
from evaluation_assets.core.suites.agents.mcp_tools import check_installed, connected
from evaluation_assets.core.suites.agents.mock_tools import mock_tools
from evaluation_assets.core.suites.agents.own_agent import attempt_by
from evaluation_assets.core.suites.agents.settings import AgentSettings, InvalidAgent
from evaluation_assets.core.suites.agents.simulated_user import UserModel
from evaluation_assets.core.suites.agents.tools import FunctionTool, InvalidTool, Toolbox, python_tools
from evaluation_assets.core.suites.formats.registry import as_document
from evaluation_assets.core.suites.suite import Case, Suite
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.formats.files.drop_files import SIDECAR_SUFFIX
from evaluation_assets.core.traces.formats.readers.canonical import NAME, line_of
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.identity import digest, file_name

PYTHON_TOOLS = {"calculator": calculator}
"""Built-in tools, which agents may name without a module."""

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings of a run. A non-empty `series` repeats all model calls instead of reading the ledger."""

    suite_name: str
    trials: int = 1
    series: str = ""
    run: str


@dataclass(slots=True)
class RunTally:
    """Counts of a run. `stopped` says why it did not finish; then no drop is written, and a re-run resumes.

    What was paid is `is_at_most` so much where replies did not say their tokens.
    """

    attempts: int
    ended: Counter[Ended] = field(default_factory=Counter)
    resumed: int = 0
    model_calls: int = 0
    from_ledger: int = 0
    paid_usd: float | None = None
    is_at_most: bool = False
    stopped: Stopped | None = None
    drop: str | None = None
    path: UPath | None = None

    @property
    def finished(self) -> int:
        """Number of finished attempts, in this run or earlier."""
        return self.ended.total() + self.resumed

    def metadata(self) -> dict[str, str | int | float]:
        """Metadata for the UI; an unknown price is omitted."""
        paid = {} if self.paid_usd is None else {"paid_at_most_usd" if self.is_at_most else "paid_usd": self.paid_usd}
        return {
            "drop": self.drop or "",
            "attempts": self.attempts,
            "resumed": self.resumed,
            "model_calls": self.model_calls,
            "from_ledger": self.from_ledger,
            **paid,
        }


@dataclass(frozen=True, slots=True)
class Places:
    """The folders for drops and for journals. Journals must be on a local file system."""

    drops: UPath
    unfinished: Path

    @property
    def finished(self) -> Path:
        """Folder for the journals of finished runs."""
        return self.unfinished / "finished"


async def run_agent(
    agent: AgentSettings, suite: Suite, settings: RunSettings, ledger: Ledger, budget: Budget, places: Places, say: Say
) -> RunTally:
    """Run an agent on every case of a suite and write the drop. A finished run is not repeated.

    Raises:
        InvalidAgent: a tool or a limit of the agent cannot be used.
        JournalInUse: another process is running this agent on this suite.
    """
    users = suite.user_model if suite.most_user_messages else None
    if users is not None and agent.is_own:
        raise InvalidAgent(
            f"agent {agent.name}: provider {agent.provider} answers once; cases with a user need a model"
        )
    price_known = _price_is_known(agent) and (users is None or _has_price(users))
    functions = _functions(agent)
    keys: list[AttemptKey] = [(case.id, trial) for case in suite.cases for trial in range(settings.trials)]
    tally = RunTally(len(keys), paid_usd=0.0 if price_known else None)
    name = file_name(agent.name, f"-{digest(agent.name, agent.identity, content_of(suite))}.jsonl")
    path, finished = places.unfinished / name, places.finished / name
    if not settings.series and not path.exists() and finished.exists():
        finished.rename(path)
    with Journal.opened(path, settings.series) as journal:
        tally.resumed = sum(journal.has(key) for key in keys)
        try:
            async with (
                _client(None if agent.is_own else agent, ledger, budget, settings.run) as client,
                _client(users, ledger, budget, settings.run) as user_client,
            ):
                run = _Run(agent, suite, functions, client, user_client, journal, tally, settings.trials, say)
                await run.attempt_all([key for key in keys if not journal.has(key)])
        except _NotConnected as problem:
            tally.stopped = Stopped(problem.reason.kind, str(problem.reason))
            return tally
        if tally.stopped is None:
            _write_drop(agent, settings, journal, keys, places.drops, tally)
            if journal.series:  # a fresh run repeats all model calls
                path.unlink()
            else:
                finished.parent.mkdir(exist_ok=True)
                path.rename(finished)
    return tally


class _NotConnected(Exception):
    """The provider of a model refused before it was asked anything."""

    def __init__(self, reason: ProviderError) -> None:
        super().__init__(str(reason))
        self.reason = reason


@asynccontextmanager
async def _client(
    endpoint: EndpointSettings | None, ledger: Ledger, budget: Budget, run: str
) -> AsyncIterator[Client | None]:
    """The client of a model; `None` without one."""
    if endpoint is None:
        yield None
        return
    model, connect, pricing = endpoint_of(endpoint)
    try:
        provider = connect()
    except ProviderError as problem:
        raise _NotConnected(problem) from problem
    try:
        with closing(Client(model, provider, ledger, pricing, run, budget)) as client:
            yield client
    finally:
        await provider.close()


def _price_is_known(agent: AgentSettings) -> bool:
    """Whether the agent's model has a price.

    Raises:
        InvalidAgent: it has none, and the agent's cost is limited.
    """
    known = not agent.is_own and _has_price(agent)
    if agent.limits.max_cost_usd is not None and not known:
        raise InvalidAgent(
            f"agent {agent.name}: max_cost_usd needs a price, but the price of {agent.model_name} is unknown; set price"
        )
    return known


def _has_price(endpoint: EndpointSettings) -> bool:
    return endpoint_of(endpoint)[2].cost(TokenUsage(input_tokens=1, output_tokens=1)) is not None


@dataclass(slots=True)
class _Run:
    """All attempts of one agent."""

    agent: AgentSettings
    suite: Suite
    functions: Sequence[FunctionTool]
    client: Client | None
    user_client: Client | None
    journal: Journal
    tally: RunTally
    trials: int
    say: Say
    mask: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.mask = Mask(value for server in self.agent.tools.mcp for value in server.passed)

    async def attempt_all(self, keys: Sequence[AttemptKey]) -> None:
        """Run the attempts concurrently. Once the budget is spent, no new attempt starts and running ones end."""
        cases = {case.id: case for case in self.suite.cases}
        slots = asyncio.Semaphore(self.agent.max_concurrency)

        async def attempted(key: AttemptKey) -> None:
            async with slots:
                if self.tally.stopped is None:
                    await self._attempt(key, cases[key[0]])

        await asyncio.gather(*(attempted(key) for key in keys))

    async def _attempt(self, key: AttemptKey, case: Case) -> None:
        attempt, toolbox = begun(case, key[1], self.agent), None
        if self.agent.is_own:
            await attempt_by(self.agent, attempt)
            self._finish(key, attempt, None)
            return
        try:
            async with connected(self.agent.tools.mcp, mask=self.mask) as remote:
                limits = self.agent.limits
                mocks = mock_tools(self.suite, case) if self.agent.tools.mock else ()
                toolbox = Toolbox(
                    [*self.functions, *remote, *mocks],
                    timeout_s=limits.tool_timeout_s,
                    max_result_characters=limits.max_result_characters,
                    mask=self.mask,
                )
                conversation = Conversation(
                    self.agent,
                    toolbox,
                    lambda request: self._ask(self.client, request, key),
                    known_results=self.journal.results(key),
                    keep=lambda step, outcomes: self.journal.keep(key, step, outcomes),
                    user=self._user_of(key),
                )
                await conversation.attempt(attempt)
        except Stopped as problem:
            self.tally.stopped = problem
            return
        except InvalidTool as problem:
            attempt.error = str(problem)
        except Exception as problem:  # noqa: BLE001  (a bug in one attempt must not end the others)
            attempt.ended, attempt.error = "failed", self.mask(f"{type(problem).__name__}: {problem}")[:500]
        self._finish(key, attempt, toolbox)

    def _finish(self, key: AttemptKey, attempt: Attempt, toolbox: Toolbox | None) -> None:
        """Store an attempt that ended."""
        self.journal.finish(key, trajectory_of(attempt, self.agent, toolbox, self.trials))
        self.tally.ended[attempt.ended] += 1
        about = f"{attempt.ended}, {attempt.steps} steps, {attempt.calls} calls, {attempt.seconds:.1f} s"
        self.say(f"{self.agent.name}: {self.tally.finished}/{self.tally.attempts} {attempt.case.id} #{key[1]}: {about}")

    def _user_of(self, key: AttemptKey) -> UserModel | None:
        if self.suite.user_model is None:
            return None
        return UserModel(self.suite.user_model, lambda request: self._ask(self.user_client, request, key))

    async def _ask(self, asker: Client | None, request: Request, key: AttemptKey) -> Answered:
        assert asker is not None, "a function or a command asks no model through the client"
        # The agent's name is part of the key, so that two agents with equal settings get independent replies.
        sample = f"{self.agent.name}:{self.journal.series}:{key[1]}"
        cost = Cost()
        try:
            answered = await asker.ask(_asked(request, sample), request, _newest, cost)
            cost.add(answered.key, answered.entry, from_ledger=answered.from_ledger)
        except ProviderError as problem:
            if problem.kind in REFUSED_FOR_ALL:
                raise Stopped(problem.kind, str(problem)) from None
            raise
        finally:
            if not cost.all_from_ledger and cost.usage.cost_usd is not None and self.tally.paid_usd is not None:
                self.tally.paid_usd += cost.usage.cost_usd
                self.tally.is_at_most |= None in (cost.usage.input_tokens, cost.usage.output_tokens)
        self.tally.model_calls += 1
        self.tally.from_ledger += answered.from_ledger
        return answered


def _asked(request: Request, sample: str) -> Mapping[str, Any]:
    """What the address of a question is made of."""
    return {
        "system": request.system,
        "turns": [_told(turn) for turn in request.turns],
        "tools": [[tool.name, tool.description, tool.parameters] for tool in request.tools],
        "sample": sample,
    }


def _newest(entries: Sequence[Entry]) -> Entry | None:
    return entries[0] if entries else None


def _told(turn: Message) -> list[Any] | Mapping[str, Any]:
    if turn.wire is not None:
        return turn.wire
    return [turn.role, turn.text, [[answer.id, answer.content, answer.failed] for answer in turn.answers]]


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bound of a run: model calls, and US dollars if the price is known."""

    calls: int
    usd: float | None


def bound(agent: AgentSettings, attempts: int) -> Bound:
    """Upper bound of a run: every attempt reaches its limits, and every request fills the model's context window."""
    calls = attempts * agent.limits.max_steps
    dearest = _dearest(agent)
    if dearest is None:
        return Bound(calls, None)
    limit = agent.limits.max_cost_usd
    per_attempt = agent.limits.max_steps * dearest
    return Bound(calls, attempts * (per_attempt if limit is None else min(per_attempt, limit + dearest)))


def user_bound(suite: Suite, trials: int) -> Bound:
    """Upper bound of what the simulated users of a suite take with each agent."""
    calls = trials * suite.most_user_messages
    dearest = None if suite.user_model is None else _dearest(suite.user_model)
    return Bound(calls, None if dearest is None else calls * dearest)


def _dearest(endpoint: EndpointSettings) -> float | None:
    """The price of a request that fills the context window, with the longest reply."""
    model, _, pricing = endpoint_of(endpoint)
    return pricing.cost(TokenUsage(input_tokens=model.max_input_tokens, output_tokens=model.max_output_tokens))


def content_of(suite: Suite) -> str:
    """Digest of the content of a suite."""
    return digest(dumped(as_document(suite), sort_keys=True).decode())


def _functions(agent: AgentSettings) -> list[FunctionTool]:
    try:
        check_installed(agent.tools.mcp)
        return python_tools(agent.tools.python, PYTHON_TOOLS)
    except InvalidTool as problem:
        raise InvalidAgent(f"agent {agent.name}: {problem}") from problem


def _write_drop(
    agent: AgentSettings,
    settings: RunSettings,
    journal: Journal,
    keys: Sequence[AttemptKey],
    drops: UPath,
    tally: RunTally,
) -> None:
    """Write the drop. The sidecar is written first, so that no drop is ever read without its agent and suite."""
    series = f"-{journal.series}" if journal.series else ""
    stem = f"{agent.name}-{agent.version_name}{series}"
    name = file_name(stem, SIDECAR_SUFFIX).removesuffix(SIDECAR_SUFFIX)
    sidecar = {
        "suite": settings.suite_name,
        "agent": agent.name,
        "agent_version": agent.version_name,
        "format": NAME,
        "labels": {"provider": agent.provider, "model": agent.model_name, "trials": settings.trials},
    }
    folder = drops / settings.suite_name
    about = yaml.safe_dump(sidecar, sort_keys=False).encode()
    publish_bytes(folder / f"{name}{SIDECAR_SUFFIX}", about)
    tally.path = folder / f"{name}.jsonl"
    # An attempt from an earlier run may have been the only trial then.
    attempts = (replace(journal.trajectory(key), id=trajectory_id(*key, trials=settings.trials)) for key in keys)
    with published(tally.path) as sink:
        sink.writelines(map(line_of, attempts))
    tally.drop = f"{settings.suite_name}/{name}"
