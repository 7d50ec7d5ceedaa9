"""Whether judges are to be asked outside of an evaluation: price, budget and keys, then consent."""

from collections.abc import Callable, Mapping, Sequence

from evaluation_assets.cli.consent import ask_for_consent, counted_quotes
from evaluation_assets.cli.options import Spending
from evaluation_assets.cli.output import echo
from evaluation_assets.cli.quotes import quote_line
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.quotes import Quote
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.paid import PaidEvaluation


def is_agreed(home: Installation, panel: Panel, quotes: Mapping[str, Quote], spending: Spending) -> bool:
    """Whether the judges are to be asked, each at its quote; a dry run prints these only.

    Raises:
        InvalidPanel: the budget limits nothing, or no judge has its key.
    """
    paid = PaidEvaluation(home, panel, Settings(), None)
    calls = sum(quote.expected.calls for quote in quotes.values())
    return _is_agreed(paid, panel, lambda: quotes, lambda: paid.check_keys_for(calls), spending)


def is_agreed_on_drops(home: Installation, panel: Panel, drops: Sequence[Drop], spending: Spending) -> bool:
    """Whether the judges are to be asked about drops; a dry run prints their quotes only.

    Raises:
        InvalidPanel: the budget limits nothing, or no judge has its key.
    """
    paid = PaidEvaluation(home, panel, Settings(), None)
    return _is_agreed(paid, panel, lambda: counted_quotes(paid, drops), lambda: paid.check_keys(drops), spending)


def _is_agreed(
    paid: PaidEvaluation,
    panel: Panel,
    quoted: Callable[[], Mapping[str, Quote]],
    check_keys: Callable[[], None],
    spending: Spending,
) -> bool:
    if spending.dry_run:
        for name, quote in quoted().items():
            echo(f"judge {name}: {quote_line(quote)}")
        return False
    paid.check_budget(spending.budget_usd, spending.budget_calls)
    check_keys()
    limited = spending.budget_usd is not None or spending.budget_calls is not None
    ask_for_consent(quoted, panel.ask_above_usd, limited=limited, agreed=spending.agreed, quiet=False)
    return True
