"""The quote that `evaluate` shows before it spends anything, and the question whether to go on."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from evaluation_assets.cli.output import counting, echo, refuse
from evaluation_assets.cli.quotes import dollars, quote_line
from evaluation_assets.cli.requested_sessions import inspected
from evaluation_assets.cli.requests import RequestedEvaluation
from evaluation_assets.core.intake.copying.drops import inspect
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.judging.quotes import Quote, in_total, least_usd

if TYPE_CHECKING:
    from evaluation_assets.runs.paid import PaidEvaluation


def ask_for_consent(
    quoted: Callable[[], Mapping[str, Quote]],
    ask_above_usd: float,
    *,
    limited: bool,
    agreed: bool,
    quiet: bool,
) -> None:
    """Show the quote of each judge and ask on a terminal; exit if the answer is no.

    A budget is consent too. Without a terminal nobody can be asked: exit if the quote is above the panel's
    `ask_above_usd` and neither consent nor a budget was given.
    """
    on_terminal = sys.stdin.isatty()
    agreed = agreed or limited
    if agreed and (quiet or not on_terminal):
        return
    quotes = quoted()
    total, least = in_total(quotes.values()), least_usd(quotes.values())
    if total.expected.usd == 0:
        return
    if not on_terminal and least <= ask_above_usd:
        return
    for name, quote in quotes.items():
        echo(f"judge {name}: {quote_line(quote)}", err=True)
    if not on_terminal:
        refuse(
            f"the quote of {'at least ' if total.expected.usd is None else ''}{dollars(least)} is above "
            f"ask_above_usd: {ask_above_usd:g} in "
            "panel.yaml; add --yes, or limit it with --budget USD"
        )
    if not agreed and not click.confirm("Evaluate?", err=True):
        refuse("nothing was evaluated and no model was called")


def counted_quotes(paid: "PaidEvaluation", drops: Sequence[Drop]) -> Mapping[str, Quote]:
    """The quote of each judge over these drops; a terminal shows how many runs were looked up."""
    with counting("runs looked up:") as step:
        return paid.quotes(drops, step)


def drops_of(asked: RequestedEvaluation) -> list[Drop]:
    """The drops that would be evaluated. What cannot be read is named when they are taken in.

    Raises:
        InvalidDrop: there is nothing that can be read.
    """
    if asked.sessions is None:
        drops = inspect(list(asked.inputs), one_drop=asked.one_drop)
    else:
        drops = inspected((), asked.sessions, one_drop=False)
    return [replace(drop, forced_format=asked.format_name) for drop in drops]
