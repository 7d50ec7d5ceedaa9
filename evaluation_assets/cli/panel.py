"""`panel`: manage the judges in use."""

import asyncio
import os
import re
import sys
from collections.abc import Callable
from typing import Any, get_args

import click
from pydantic import TypeAdapter, ValidationError

from evaluation_assets.cli.align import align
from evaluation_assets.cli.attack import attack
from evaluation_assets.cli.border import Group
from evaluation_assets.cli.bridge import bridge
from evaluation_assets.cli.chosen_panel import not_fitted
from evaluation_assets.cli.options import with_home, with_judges
from evaluation_assets.cli.output import echo
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.judging.panel import (
    EMBEDDED,
    PYTHON,
    InvalidPanel,
    JudgeSettings,
    Panel,
    panel_of,
)
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.selection import Preset
from evaluation_assets.core.judging.trial import try_panel
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.models.addresses import Address
from evaluation_assets.core.models.endpoints import AssetName
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.system.configuration import VariableName
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.text.unique_keys import settings_text
from evaluation_assets.core.traces.prices import Price, PublicPrice, list_price_of
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.runs.paid import check_evaluators
from evaluation_assets.runs.verification import is_answered, took


@click.group("panel", cls=Group)
def panel_commands() -> None:
    """Manage the panel, the judges in use."""


panel_commands.add_command(attack)
panel_commands.add_command(align)
panel_commands.add_command(bridge)


@panel_commands.command("list")
@with_judges
def list_judges(
    home: Installation,
    panel: Panel,
) -> None:
    """List the judges, whether their API keys are set, and what cannot be used."""
    for judge in panel.judges:
        asks = "" if judge.evaluator is None or judge.provider == PYTHON else f", asked by {judge.evaluator.name}"
        echo(judge.name, f"  {judge.provider} {judge.model_name}{asks}", f"  key: {_key_state(judge)}")
    check_evaluators(panel)


@panel_commands.command("test")
@with_judges
def test_judges(
    home: Installation,
    panel: Panel,
) -> None:
    """Make one real call to each judge, to check that it is reachable, its reply is valid, and what it costs."""
    failed = False
    for name, verdict in asyncio.run(try_panel(panel, load_rubrics(home.rubrics))):
        good = is_answered(verdict)
        failed |= not good
        echo(f"{name}: {'ok' if good else 'FAILED'}, {took(verdict) if good else verdict.error}")
    sys.exit(1 if failed else 0)


@panel_commands.command("init")
@with_home
def init_panel(home: Installation) -> None:
    """Ask for judges and write panel.yaml. It asks for the names of key variables, never for keys."""
    prepare(home)
    if home.panel_file.exists():
        click.confirm(f"{home.panel_file} exists. Overwrite it?", abort=True)
    judges: list[dict[str, Any]] = []
    while not judges or _wants_another(judges):
        judges.append(_ask_for_judge([judge["name"] for judge in judges]))
        try:
            panel_of({"judges": judges}, "panel")
        except InvalidPanel as problem:
            echo(f"{problem}; try again", err=True)
            judges.pop()
    cascade = _ask_for_cascade(judges)
    has_models = all(judge["provider"] != EMBEDDED for judge in judges)
    keep = f"Keep the embedded judge, {EMBEDDED}, too? Some findings need it; scores average all judges of the panel"
    if has_models and click.confirm(keep, default=False):
        judges.append({"name": EMBEDDED, "provider": EMBEDDED})
    written = {"quorum": 1, "judges": judges} | ({"cascade": cascade} if cascade else {})
    publish_bytes(home.panel_file, settings_text(written).encode())
    echo(f"written to {home.panel_file}; test it with: {home.command('panel', 'test')}")
    echo(*not_fitted(home, panel_of(written, "panel")))


def _wants_another(judges: list[dict[str, Any]]) -> bool:
    deciding, writing = _deciding_and_writing(judges)
    if deciding and not writing:
        asked = (
            f"Add a language model, to ask where {' and '.join(deciding)} (no reasons, only probabilities) is unsure?"
        )
        return click.confirm(asked, default=True)
    return click.confirm("Another judge?", default=False)


def _ask_for_cascade(judges: list[dict[str, Any]]) -> list[str | list[str]]:
    """The stages: decision models, then language models; empty without both or where all are to be asked."""
    deciding, writing = _deciding_and_writing(judges)
    if not deciding or not writing:
        return []
    asked = f"Ask {' and '.join(writing)} only where {' and '.join(deciding)} is unsure? Otherwise scores average all"
    if not click.confirm(asked, default=True):
        return []
    return [stage[0] if len(stage) == 1 else stage for stage in (deciding, writing)]


def _deciding_and_writing(judges: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The names of the decision models and of the language models."""
    models = [judge for judge in judges if judge["provider"] != EMBEDDED]
    deciding = [judge["name"] for judge in models if PROVIDERS[judge["provider"]].decides]
    return deciding, [judge["name"] for judge in models if judge["name"] not in deciding]


def _key_state(judge: JudgeSettings) -> str:
    variable = judge.key_variable
    if variable is None:
        return "Google's application default credentials" if judge.provider == "vertex" else "none needed"
    return f"{variable} is {'set' if os.environ.get(variable) else 'NOT set'}"


def _valid(kind: Any) -> Callable[[str], str]:
    """Validate an answer as the panel will, before the next question; one that is refused is not repeated."""
    adapter: TypeAdapter[str] = TypeAdapter(kind)

    def validate(typed: str) -> str:
        try:
            return adapter.validate_python(typed)
        except ValidationError as problem:
            raise click.UsageError("; ".join(fault.reason for fault in faults_of(problem))) from None

    return validate


def _variable(typed: str) -> str:
    """Validate the name of a variable; an empty answer is no key."""
    return typed and _valid(VariableName)(typed)


def _price(typed: str) -> float | None:
    """Validate a price; an empty answer is none."""
    try:
        return Price(input=float(typed), output=0.0).input if typed else None
    except ValueError:
        raise click.UsageError(f"{typed!r} is not a price") from None


def _ask_for_judge(taken: list[str]) -> dict[str, Any]:
    known_as = {EMBEDDED: "the embedded judge: free, no model"} | {name: each.about for name, each in PROVIDERS.items()}
    if not taken:
        echo(*(f"  {name:<21} {about}" for name, about in known_as.items()))
    provider = click.prompt("Provider", type=click.Choice(list(known_as)), show_choices=False)
    if provider == EMBEDDED:
        return {
            "name": click.prompt("Name", default=EMBEDDED, value_proc=_valid(AssetName)),
            "provider": provider,
        }
    known = PROVIDERS[provider]
    model = click.prompt("Model", default=known.default_model)
    plain = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")
    plain = plain if plain[:1].isalpha() else f"{provider}_{plain}"
    name = click.prompt("Name", default=plain if plain not in taken else None, value_proc=_valid(AssetName))
    judge: dict[str, Any] = {"name": name}
    judge |= {"provider": provider, "model": model}
    if known.base_url is None:
        judge["base_url"] = click.prompt(
            "URL of the endpoint, e.g. http://localhost:8000/v1", value_proc=_valid(Address)
        )
    if known.credentials == "google":
        judge["project"] = click.prompt("Google Cloud project", default=os.environ.get("GOOGLE_CLOUD_PROJECT"))
        judge["location"] = click.prompt("Location", default=os.environ.get("GOOGLE_CLOUD_LOCATION", "global"))
    else:
        variable = click.prompt(
            "Environment variable with the key (empty: no key)", default=known.key_env or "", value_proc=_variable
        )
        if variable and variable != known.key_env:
            judge["api_key_env"] = variable
    if known.price_id is None and (price := _ask_for_price(model, decides=known.decides)) is not None:
        judge["price"] = price
    judge["preset"] = click.prompt(
        "Ask about each run in one call (quick), also about its clips (standard), also about turns and sessions (full)",
        default="standard",
        type=click.Choice(get_args(Preset)),
        show_choices=False,
    )
    return judge


def _ask_for_price(model: str, *, decides: bool) -> dict[str, float] | None:
    """The price of a model that its provider does not tell. Offered is the list price of a model of that name."""
    listed = list_price_of(model)
    of_input = _ask_for_dollars("input", listed_input := _listed(listed, TokenUsage(input_tokens=1, output_tokens=0)))
    if of_input is None:
        return None
    of_output = 0.0
    if not decides:
        of_output = _ask_for_dollars("output", _listed(listed, TokenUsage(input_tokens=0, output_tokens=1)))
    if of_output is None:
        return None
    of_cached = _listed(listed, TokenUsage(input_tokens=1, cached_tokens=1, output_tokens=0))
    cached = {} if of_cached is None or of_input != listed_input else {"cached_input": of_cached}
    return {"input": of_input, "output": of_output} | cached


def _listed(price: PublicPrice, token: TokenUsage) -> float | None:
    """The list price of a million such tokens."""
    cost = price.cost(token)
    return None if cost is None else round(cost * 1e6, 6)


def _ask_for_dollars(kind: str, listed: float | None) -> float | None:
    asked = f"US dollars per million {kind} tokens, as your provider bills (empty: unknown)"
    return click.prompt(asked, default="" if listed is None else f"{listed:g}", value_proc=_price)
