"""Labels of a run by the tests of its task: how many pass and fail, and which fail, by kind of test."""

from collections.abc import Mapping, Sequence

from evaluation_assets.core.traces.trajectories.model import JsonObject

_NAMED = 20
"""Failed tests of a kind that are named."""


def labels_of_tests(by_kind: Mapping[str, Mapping[str, Sequence[str]]]) -> JsonObject:
    """`tests` and `failed_tests` by kind, from the names of tests by outcome: `success` and `failure`."""
    labels: JsonObject = {}
    known = {kind: tests for kind, tests in by_kind.items() if any(tests.values())}
    if known:
        labels["tests"] = {kind: {name: len(own) for name, own in tests.items()} for kind, tests in known.items()}
    if failed := {kind: list(tests["failure"][:_NAMED]) for kind, tests in known.items() if tests.get("failure")}:
        labels["failed_tests"] = failed
    return labels
