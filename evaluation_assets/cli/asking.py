"""Ask judges outside of an evaluation: price, budget and keys, then consent, then the questions."""

import sys
from collections.abc import Iterable
from functools import cache
from typing import TypeVar

from evaluation_assets.cli.consent import ask_for_consent
from evaluation_assets.cli.options import Spending
from evaluation_assets.cli.output import echo, progress
from evaluation_assets.cli.quotes import quote_line
from evaluation_assets.core.judging.asking import Ask, answer_of, quote_of
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, Panel, judges_of
from evaluation_assets.core.judging.quotes import Quote
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.paid import check_budget, check_keys, check_usable, lacks_keys

_T = TypeVar("_T")


def agreed(
    home: Installation, panel: Panel, spending: Spending, ask: Ask[object], about: Iterable[str]
) -> tuple[list[Judge], Budget]:
    """The judges of a panel, each of which may be asked, and what they may spend together.

    Exits after the price in a dry run, which also prints what it is `about`, and where nobody agrees to the price.

    Raises:
        LedgerError: the ledger cannot be used.
        InvalidPanel: a judge cannot be used, the budget limits nothing, or no judge has its key.
    """
    if any(judge.provider not in WITHOUT_MODEL for judge in panel.judges):
        home.make()  # for the ledger
    check_usable(home, panel)
    judges = judges_of(panel, home.ledger_url)

    @cache
    def quotes() -> dict[str, Quote]:
        return {judge.name: quote for judge in judges if (quote := quote_of(judge, ask)) is not None}

    if spending.dry_run:
        echo(*about, *(f"judge {name}: {quote_line(quote)}" for name, quote in quotes().items()))
        sys.exit(0)
    check_budget(
        panel,
        judges,
        spending.budget_usd,
        spending.budget_calls,
        lambda unpriced: [judge for judge in unpriced if quotes()[judge.name].expected.calls],
    )
    if lacks_keys(panel):
        check_keys(panel, sum(quote.expected.calls for quote in quotes().values()))
    limited = spending.budget_usd is not None or spending.budget_calls is not None
    ask_for_consent(quotes, panel.ask_above_usd, limited=limited, agreed=spending.agreed, quiet=False)
    return judges, Budget(spending.budget_usd, limit_calls=spending.budget_calls)


def answered(judge: Judge, ask: Ask[_T], budget: Budget, length: int) -> _T:
    """What a judge answers, with a progress bar of this length."""
    with progress(judge.name, length) as step:
        return answer_of(judge, ask, budget, step)


def exit_if_stopped(budget: Budget, consequence: str) -> None:
    """Exit with status 3 if the budget left out questions; `consequence` is what becomes of the answers."""
    if budget.refused is not None:
        echo(f"{budget.refused}{consequence}", err=True)
        sys.exit(3)
