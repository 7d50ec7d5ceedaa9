"""How planted faults were noticed, as lines of a table and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from evaluation_assets.core.pipeline.injection import Pairs
from evaluation_assets.core.scoring.discrimination import Discrimination, Noticed, Share, discrimination
from evaluation_assets.core.sections.findings.faults.operator import Operator
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.traces.trajectories.model import JsonObject

_HEAD = f"  {'':<22}{'pairs':>6}{'falls':>7}{'rises':>7}{'net':>7}  {'95% interval':<14}{'place':>6}{'recall':>7}"


def injection_lines(pairs: Pairs, noticed: Sequence[tuple[Operator, Noticed]]) -> Iterator[str]:
    """A table of at most 80 columns: one line for each operator, faults first, and then controls."""
    yield _HEAD
    for controls in (False, True):
        yield "  controls" if controls else "  faults"
        for name in pairs.not_applicable:
            if OPERATORS[name].is_control is controls:
                yield _line(name, _figures(name, noticed), sum(pairs.not_applicable[name].values()), pairs.runs)


def figures(pairs: Pairs, noticed: Sequence[tuple[Operator, Noticed]]) -> list[JsonObject]:
    """The same as JSON, with all intervals, and with the reasons why operators did not fit."""
    return [
        {
            "operator": name,
            "kind": OPERATORS[name].kind,
            "not_applicable": dict(reasons),
            "figures": None if (own := _figures(name, noticed)) is None else asdict(own),
        }
        for name, reasons in pairs.not_applicable.items()
    ]


def _figures(name: str, noticed: Sequence[tuple[Operator, Noticed]]) -> Discrimination | None:
    return discrimination([each for operator, each in noticed if operator.name == name])


def _line(name: str, own: Discrimination | None, unfit: int, runs: int) -> str:
    if own is None:
        reason = f"fits none of {runs} runs" if unfit == runs else "not scored"
        return f"    {name:<20}{0:>6}  {reason}"
    net = own.net
    interval = "-" if net.low is None or net.high is None else f"{net.low:+z.2f} to {net.high:+z.2f}"
    shares = f"{own.falls.value:>7.2f}{own.rises.value:>7.2f}{net.value:>+z7.2f}  {interval:<14}"
    return f"    {name:<20}{own.pairs:>6}{shares}{_share(own.found):>6}{_share(own.recall):>7}".rstrip()


def _share(share: Share | None) -> str:
    return "-" if share is None else f"{share.value:.2f}"
