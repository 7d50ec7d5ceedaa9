"""The quote that `evaluate` shows before it spends anything, and the question whether to go on."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import click

from evaluation_assets.cli.coding_agents import RequestedSessions, inspected
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.cli.quotes import dollars, quote_line
from evaluation_assets.core.clips.tool_types import load_tool_types
from evaluation_assets.core.drops import Drop, InvalidDrop
from evaluation_assets.core.formats.base import UnreadableDrop
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.intake.drops import inspect
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import Panel, judges_of
from evaluation_assets.core.judging.quotes import Quote, in_total
from evaluation_assets.core.llm.messages import TokenUsage
from evaluation_assets.core.planning import Plan, plan, total_of
from evaluation_assets.core.preprocessing.rules import Settings
from evaluation_assets.core.rubrics.model import load_rubrics
from evaluation_assets.core.settings import load_settings

_SOME = TokenUsage(input_tokens=1_000_000, output_tokens=1_000_000)


class PaidEvaluation:
    """An evaluation that may cost something, before anything of it runs."""

    def __init__(
        self, home: Installation, panel: Panel, settings: Settings, suite: Path | None, select: str | None
    ) -> None:
        self._home = home
        self._panel = panel
        self._settings = settings
        self._suite = None if suite is None else suite.resolve().stem
        self._select = select

    @cached_property
    def is_free(self) -> bool:
        """Whether no judge can cost anything: no models, a price of 0, or no verdicts selected."""
        return not self._priced or not self._selects_verdicts()

    def ask_for_consent(self, drops: Sequence[Drop], budget_usd: float | None, *, agreed: bool, quiet: bool) -> None:
        """Show the quote and ask on a terminal; exit if the answer is no.

        Without a terminal nobody can be asked: exit if the quote is above the panel's `ask_above_usd` and neither
        consent nor a budget was given.
        """
        on_terminal = sys.stdin.isatty()
        if (agreed and quiet) or (not on_terminal and (agreed or budget_usd is not None)):
            return
        quotes = self._quotes(drops)
        total = in_total(quotes.values())
        if total.expected.usd == 0:
            return
        if not on_terminal and (total.expected.usd or 0.0) <= self._panel.ask_above_usd:
            return
        for name, quote in quotes.items():
            echo(f"judge {name}: {quote_line(quote)}", err=True)
        if not on_terminal:
            refuse(
                f"the quote of {dollars(total.expected.usd)} is above ask_above_usd: {self._panel.ask_above_usd:g} in "
                "panel.yaml; add --yes, or limit it with --budget USD"
            )
        if not agreed and not click.confirm("Evaluate?", err=True):
            refuse("nothing was evaluated and no model was called")

    @cached_property
    def _priced(self) -> list[Judge]:
        judges = judges_of(self._panel, self._home.ledger_url)
        return [judge for judge in judges if isinstance(judge, ModelJudge) and judge.pricing.cost(_SOME) != 0]

    def _selects_verdicts(self) -> bool:
        if self._select is None:
            return True
        from evaluation_assets.definitions import build_definitions  # noqa: PLC0415
        from evaluation_assets.runs.selection import InvalidSelection, assets_of  # noqa: PLC0415

        try:
            chosen = assets_of(build_definitions(self._home, self._panel), self._select, with_files=False)
        except InvalidSelection as problem:
            refuse(str(problem))
        return any(key.path[0].endswith("_verdicts") for key in chosen)

    def _quotes(self, drops: Sequence[Drop]) -> dict[str, Quote]:
        home = self._home
        rubrics, types, canaries = (
            load_rubrics(home.rubrics),
            load_tool_types(home.tool_types),
            load_settings(home.gate_file).canaries,
        )
        plans: list[Plan] = []
        for drop in drops:
            try:
                plans.append(plan(drop, self._settings, rubrics, types, self._priced, canaries, suite=self._suite))
            except (InvalidDrop, UnreadableDrop):
                continue  # the evaluation says so, and spends nothing on it
        return {calls.judge: calls.quote for calls in total_of(plans)}


def drops_of(
    inputs: Sequence[Path], sessions: RequestedSessions | None, *, one_drop: bool, format_name: str | None
) -> list[Drop]:
    """The drops that would be evaluated. What cannot be read is named when they are taken in.

    Raises:
        InvalidDrop: there is nothing that can be read.
    """
    drops = inspected((), sessions, one_drop=False) if sessions else inspect(list(inputs), one_drop=one_drop)
    return drops if format_name is None else [replace(drop, forced_format=format_name) for drop in drops]
