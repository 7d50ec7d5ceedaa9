"""What the core gives, in Dagster's terms: findings as check results, explained problems as failures."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import dagster as dg

from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.resources.dagster_private import PlainFailure


def check_result(
    finding: Finding,
    check_name: str | None = None,
    asset_key: dg.AssetKey | None = None,
    links: Mapping[str, str] | None = None,
) -> dg.AssetCheckResult:
    """The result of a check; a step with several checks names which. A check that fails links to what shows it."""
    return dg.AssetCheckResult(
        passed=finding.passed,
        check_name=check_name,
        asset_key=asset_key,
        severity=dg.AssetCheckSeverity.ERROR if finding.severity == "error" else dg.AssetCheckSeverity.WARN,
        metadata={**finding.metadata, **({} if finding.passed else linked(links or {}))},
        description=finding.description,
    )


def linked(addresses: Mapping[str, str]) -> dict[str, dg.MetadataValue]:
    """Addresses in reports as metadata: links where they are URLs; others cannot be opened from the UI."""
    return {
        name: dg.MetadataValue.url(address)
        for name, address in addresses.items()
        if address.startswith(("http://", "https://"))
    }


@contextmanager
def explained(*problems: type[Exception], metadata: Mapping[str, str] | None = None) -> Iterator[None]:
    """Problems of these types fail the run with their message, not with a stack of frames, and not twice."""
    try:
        yield
    except problems as problem:
        raise PlainFailure(str(problem), metadata, type(problem).__name__) from problem
