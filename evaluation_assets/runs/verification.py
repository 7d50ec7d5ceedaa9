"""Whether an installation can evaluate: settings, keys, prices, providers, one real call to each judge, outputs."""

import asyncio
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from platform import python_version
from typing import Literal

from upath import UPath

from evaluation_assets.core.gating.baselines import InvalidBaseline, promoted_suites, read_baseline
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.judging.cascade.fitted import read_cascade
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, JudgeSettings, Panel, judges_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.trial import try_panel
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.pipeline.drawing import sources_of
from evaluation_assets.core.pipeline.named_metrics import settings_of
from evaluation_assets.core.report.sinks.opening import MissingKey, open_sink
from evaluation_assets.core.report.sinks.settings import Opening, load_sinks
from evaluation_assets.core.sections.constraints.settings import load_checks
from evaluation_assets.core.sections.failure_groups.states import read_states
from evaluation_assets.core.suites.agents.settings import agent_files, load_agents
from evaluation_assets.core.suites.formats.registry import load_suites
from evaluation_assets.core.system.configuration import InvalidConfiguration
from evaluation_assets.core.system.installation import Installation, UnusableHome
from evaluation_assets.core.system.one_origin import origin_of
from evaluation_assets.runs.paid import check_evaluators, check_ledger, missing_keys, unknown_prices, without_keys

Status = Literal["ok", "warning", "failed"]

_LEAST_PROVIDERS = 2
"""Judges of one provider share its weaknesses, and an outage."""


@dataclass(frozen=True, slots=True)
class Verified:
    """One thing that was checked. A `warning` does not keep anything from running."""

    name: str
    status: Status
    message: str


def verified(home: Installation, panel: Panel, *, calls: bool) -> Iterator[Verified]:
    """The checks of an installation, in order. Missing folders are made; `calls` makes one real call to each judge."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("evaluation-assets", "dagster"))
    yield Verified("installation", "ok", f"{versions}, Python {python_version()}")
    problems = [*unusable_settings(home, panel), *_unusable_elsewhere(home)]
    yield from (Verified("settings", "failed", problem) for problem in problems)
    if not problems:
        yield Verified("settings", "ok", f"all files in {home.root} can be used")
    judges = judges_of(panel, home.ledger_url)
    yield from _keys(panel, judges)
    yield from _sinks(home)
    yield from _prices(panel, judges)
    yield _providers(panel)
    if calls:
        yield from _calls(home, panel)
    yield from _outputs(home, panel)


def took(verdict: Verdict) -> str:
    """Tokens and cost of a verdict, if known; rules and recorded verdicts make no call."""
    if not verdict.attempts:
        return "no model call"
    usage = verdict.usage
    tokens = (
        "tokens not reported"
        if usage.input_tokens is None or usage.output_tokens is None
        else f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
    )
    return f"{tokens}, cost {'unknown' if usage.cost_usd is None else f'${usage.cost_usd:.6f}'}"


def is_answered(verdict: Verdict) -> bool:
    """Whether a judge that was tried can be used."""
    return verdict.outcome in ("scored", "abstained")


def unusable_settings(home: Installation, panel: Panel) -> Iterator[str]:
    """What is wrong with the files of settings beside `panel.yaml`, which has been read."""
    loaders: dict[str, Callable[[], object]] = {
        "agents": lambda: load_agents(agent_files(home.agents)),
        "rubrics": lambda: load_rubrics(home.rubrics),
        "tool types": lambda: load_tool_types(home.tool_types),
        "gate.yaml": lambda: _gate_settings(home, panel),
        "checks.yaml": lambda: load_checks(home.checks_file),
        "groups.yaml": lambda: read_states(home.groups_file),
        "sources.yaml": lambda: sources_of(home),
        "sinks.yaml": lambda: load_sinks(home.sinks_file),
        "cascade.json": lambda: read_cascade(home.cascade_file),
        "evaluators": lambda: check_evaluators(panel),
    }
    for name, load in loaders.items():
        try:
            load()
        except InvalidConfiguration as problem:
            yield str(problem) if name in str(problem) else f"{name}: {problem}"


def _unusable_elsewhere(home: Installation) -> Iterator[str]:
    """What is wrong with suites and baselines, which fail only the drops of their suite, and with variables."""
    yield from load_suites(home.suites)[1]
    for suite in promoted_suites(home.baselines):
        try:
            read_baseline(home.baselines / f"{suite}.json")
        except InvalidBaseline as problem:
            yield str(problem)
    url = home.public_reports_url
    if url is not None and not url.startswith(("http://", "https://")):
        yield f"EVALUATION_REPORTS_URL: {url} has to begin with http:// or https://"


def _gate_settings(home: Installation, panel: Panel) -> None:
    from evaluation_assets.defs.dagster_settings import check_for_dagster  # noqa: PLC0415  (Dagster: 1 s to import)

    check_for_dagster(settings_of(home, panel), home.gate_file)


def _keys(panel: Panel, judges: Sequence[Judge]) -> Iterator[Verified]:
    missing = missing_keys(panel)
    for line in without_keys(missing):
        yield Verified("keys", "failed", line)
    if not missing:
        yield Verified("keys", "ok", "every key that is needed is set")


def _sinks(home: Installation) -> Iterator[Verified]:
    """Sinks without their key, to which nothing is delivered. Those of other packages connect themselves."""
    try:
        sinks = load_sinks(home.sinks_file)
    except InvalidConfiguration:
        return
    for name, settings in sinks.items():
        try:
            with nullcontext() if isinstance(settings, Opening) else open_sink(settings):
                pass
        except MissingKey as problem:
            yield Verified("sinks", "warning", f"nothing is sent to {name}: {problem}")


def _prices(panel: Panel, judges: Sequence[Judge]) -> Iterator[Verified]:
    unknown = unknown_prices(panel, judges)
    for who in unknown:
        yield Verified(
            "prices", "warning", f"the price of {who} is unknown; set its `price`, so that --budget can limit it"
        )
    if not unknown:
        yield Verified("prices", "ok", "every price is known")


def _providers(panel: Panel) -> Verified:
    models = [judge for judge in panel.judges if judge.provider not in WITHOUT_MODEL]
    providers = sorted({_provider_of(judge) for judge in models})
    if len(providers) >= _LEAST_PROVIDERS:
        return Verified("providers", "ok", f"{len(providers)} providers of models: {', '.join(providers)}")
    if not providers:
        return Verified("providers", "ok", "no model judges")
    return Verified(
        "providers",
        "warning",
        f"only {providers[0]} judges; a provider's bias shows only beside judges of another provider",
    )


def _provider_of(judge: JudgeSettings) -> str:
    """The server that a judge is asked at, whatever the protocol: by the provider's name, else by its address."""
    names = {origin_of(known.base_url): name for name, known in reversed(PROVIDERS.items()) if known.base_url}
    url = judge.base_url or PROVIDERS[judge.provider].base_url
    return judge.provider if url is None else names.get(origin_of(url), origin_of(url))


def _calls(home: Installation, panel: Panel) -> Iterator[Verified]:
    for name, verdict in asyncio.run(try_panel(panel, load_rubrics(home.rubrics))):
        answered = is_answered(verdict)
        said = took(verdict) if answered else verdict.error
        yield Verified("calls", "ok" if answered else "failed", f"judge {name}: {said}")


def _outputs(home: Installation, panel: Panel) -> Iterator[Verified]:
    try:
        prepare(home)
    except UnusableHome as problem:
        yield Verified("outputs", "failed", str(problem))
        return
    folders = [home.drops, home.lake, home.root / "reports", UPath(home.dagster)]
    unwritable = [(folder, problem) for folder in folders if (problem := _unwritable(folder)) is not None]
    for folder, problem in unwritable:
        yield Verified("outputs", "failed", f"{folder} cannot be written: {problem}")
    try:
        check_ledger(home, panel)
    except LedgerError as problem:
        yield Verified("outputs", "failed", str(problem))
        return
    if not unwritable:
        yield Verified("outputs", "ok", f"drops, tables, reports and the ledger of {home.root} can be written")


def _unwritable(folder: UPath) -> str | None:
    """Why nothing can be written into a folder."""
    probe = folder / f".verify-{uuid.uuid4().hex}"
    try:
        publish_bytes(probe, b"")
        probe.unlink()
    except Exception as problem:  # noqa: BLE001  # each store has errors of its own
        told = (isinstance(problem, OSError) and problem.strerror) or str(problem)  # without the name of the probe
        return " ".join(told.split()) or type(problem).__name__
    return None
