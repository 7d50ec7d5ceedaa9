"""Cost estimates on the terminal."""

from collections.abc import Sequence

from evaluation_assets.cli.output import echo
from evaluation_assets.core.judging.quotes import BYTES_PER_TOKEN, Quote, in_total
from evaluation_assets.core.pipeline.planning import Calls
from evaluation_assets.core.text.counted import counted, to_a_hundredth_cent


def print_calls(calls: Calls, *, is_part: bool = False) -> None:
    """Print what a judge would be asked, and the price; of one of several drops without what the total says of all."""
    expected, most = calls.quote.expected, calls.quote.most
    known = sum(calls.known.values())
    levels = ", ".join(f"{level} {count}" for level, count in calls.new.items())
    echo(
        f"  judge {calls.judge:<12} {expected.calls} new calls{f' ({levels})' if levels else ''}, {known} in the ledger"
    )
    if expected.calls:
        echo(
            f"    expected {dollars(expected.usd)}: {expected.input_tokens:,} tokens in "
            f"({expected.cached_tokens:,} of them cached), {expected.output_tokens:,} out"
        )
        echo(f"    at most  {dollars(most.usd)}: {most.input_tokens:,} tokens in, {most.output_tokens:,} out")
    if expected.calls and not is_part:
        if calls.first_calls_only:
            echo("    one call per verdict is priced; a metric that makes several costs more")
        replies = "assumed" if calls.typical_reply is None else f"{calls.typical_reply:.0f} tokens, as in the ledger"
        density = "assumed" if calls.bytes_per_token is None else "as in the ledger"
        bytes_per_token = calls.bytes_per_token or BYTES_PER_TOKEN
        if (batched := calls.batched) is not None and batched.expected.usd is not None and expected.usd:
            than = "cheaper" if batched.expected.usd < expected.usd else "not cheaper"
            echo(f"    mode: batch would cost {dollars(batched.expected.usd)}, {than} than conversations with a cache")
        echo(f"    reply length: {replies}; bytes per token: {bytes_per_token:.1f}, {density}")
    if not is_part and any(each.quote.uncached_usd for each in calls.presets.values()):
        _print_presets(calls)


def print_total(judges: Sequence[Calls], cascade: Sequence[Sequence[str]] = ()) -> None:
    """Print the total of several judges, and what is left of it where the first stage of a cascade decides all."""
    if len(judges) > 1:
        total = in_total(calls.quote for calls in judges)
        echo(f"  all judges         expected {dollars(total.expected.usd)}, at most {dollars(total.most.usd)}")
    if later := {judge for stage in cascade[1:] for judge in stage}:
        least = in_total(calls.quote for calls in judges if calls.judge not in later)
        echo(f"  with the cascade   from {dollars(least.expected.usd)}, if its first stage decides everything")


def _print_presets(calls: Calls) -> None:
    first, second = ("in batches", "one by one") if calls.is_batched else ("with cache", "without cache")
    echo(f"    {'preset':<10}{'new calls':>10}{'tokens in':>14}{'tokens out':>12}{first:>15}{second:>15}")
    for preset, each in calls.presets.items():
        expected = each.quote.expected
        echo(
            f"    {preset:<10}{expected.calls:>10,}{expected.input_tokens:>14,}{expected.output_tokens:>12,}"
            f"{dollars(expected.usd):>15}{dollars(each.quote.uncached_usd):>15}"
        )


def quote_line(quote: Quote) -> str:
    """A quote in one line."""
    expected = quote.expected
    calls = counted(expected.calls, "new call")
    if not expected.calls:
        return calls
    if expected.usd is None and quote.most.usd is None:
        return f"{calls}, price unknown"
    return f"{calls}, expected {dollars(expected.usd)}, at most {dollars(quote.most.usd)}"


def dollars(amount: float | None) -> str:
    """An amount in US dollars, with more digits where it is small."""
    return "price unknown" if amount is None else f"${amount:.2f}" if amount >= 0.1 else to_a_hundredth_cent(amount)
