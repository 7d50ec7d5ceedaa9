"""Whether judges are to be asked outside of an evaluation: price, budget and keys, then consent."""

from collections.abc import Callable, Mapping, Sequence

from evaluation_assets.cli.consent import ask_for_consent
from evaluation_assets.cli.output import echo
from evaluation_assets.cli.quotes import quote_line
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.quotes import Quote
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.paid import PaidEvaluation


def is_agreed(
    home: Installation, panel: Panel, quotes: Mapping[str, Quote], *, dry_run: bool, budget: float | None, yes: bool
) -> bool:
    """Whether the judges are to be asked, each at its quote; a dry run prints these only.

    Raises:
        InvalidPanel: the budget limits nothing, or no judge has its key.
    """
    paid = PaidEvaluation(home, panel, Settings(), None)
    calls = sum(quote.expected.calls for quote in quotes.values())
    return _is_agreed(
        paid,
        panel,
        lambda: quotes,
        lambda: paid.check_keys_for(calls),
        dry_run=dry_run,
        budget=budget,
        budget_calls=None,
        yes=yes,
    )


def is_agreed_on_drops(
    home: Installation,
    panel: Panel,
    drops: Sequence[Drop],
    *,
    dry_run: bool,
    budget: float | None,
    budget_calls: int | None = None,
    yes: bool,
) -> bool:
    """Whether the judges are to be asked about drops; a dry run prints their quotes only.

    Raises:
        InvalidPanel: the budget limits nothing, or no judge has its key.
    """
    paid = PaidEvaluation(home, panel, Settings(), None)
    return _is_agreed(
        paid,
        panel,
        lambda: paid.quotes(drops),
        lambda: paid.check_keys(drops),
        dry_run=dry_run,
        budget=budget,
        budget_calls=budget_calls,
        yes=yes,
    )


def _is_agreed(
    paid: PaidEvaluation,
    panel: Panel,
    quoted: Callable[[], Mapping[str, Quote]],
    check_keys: Callable[[], None],
    *,
    dry_run: bool,
    budget: float | None,
    budget_calls: int | None,
    yes: bool,
) -> bool:
    if dry_run:
        for name, quote in quoted().items():
            echo(f"judge {name}: {quote_line(quote)}")
        return False
    paid.check_budget(budget, budget_calls)
    check_keys()
    limited = budget is not None or budget_calls is not None
    ask_for_consent(quoted, panel.ask_above_usd, limited=limited, agreed=yes, quiet=False)
    return True
