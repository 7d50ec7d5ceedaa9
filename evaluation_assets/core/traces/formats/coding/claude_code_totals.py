"""What the last line of a printed Claude Code session states about all of it, compared with its lines."""

from dataclasses import replace

from evaluation_assets.core.traces.formats.coding.claude_code_lines import Reply, SessionLines
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.transcript import Asked, Result, total
from evaluation_assets.core.traces.trajectories.model import Usage

_TOKENS = ("input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens")


def at_least(steps: Usage | None, printed: Usage | None) -> Usage:
    """Usage of the steps, or that of the printed summary where it is higher: it has the requests of sub-agents."""
    if steps is None or printed is None:
        return steps or printed or Usage()
    both = {name: (getattr(steps, name), getattr(printed, name)) for name in _TOKENS}
    most = {name: max((count for count in each if count is not None), default=None) for name, each in both.items()}
    return replace(steps, **most)


def confirm_printed(lines: SessionLines, stated: Comparisons) -> None:
    """Compare the turns and the usage of a summary with the main agent's lines, and its cost with that of its models.

    The usage of a summary may have more requests than the lines, and that of the models more than both, never fewer.
    Each input of a stream has a summary of its own; several are not compared.
    """
    if lines.summaries != 1:
        return
    events = lines.chains[""].events
    replies = [event for event in events if isinstance(event, Reply)]
    if lines.turns is not None:  # some versions count the answers of the model, others what it was given
        given = 1 + sum(isinstance(event, Asked | Result) for event in events) + lines.hints
        fewest, most = sorted((len(replies), given))
        stated.compare("turn", lines.turns, min(max(lines.turns, fewest), most))
    for part, whole in ((total(reply.usage for reply in replies), lines.used), (lines.used, lines.used_by_models)):
        if part is not None and whole is not None:
            most_of_both = at_least(part, whole)
            stated.compare("input token", whole.input_tokens, most_of_both.input_tokens)
            stated.compare("output token", whole.output_tokens, most_of_both.output_tokens)
    if lines.used_by_models is not None:
        stated.compare("US dollar", lines.spent, lines.used_by_models.cost_usd)
