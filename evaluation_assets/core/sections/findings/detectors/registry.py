"""All detectors. To remove one, delete its module and its line here."""

from evaluation_assets.core.sections.findings.detectors import (
    agreed,
    answers,
    arguments,
    attributes,
    booked,
    choices,
    claimed_tests,
    claims,
    cut_off,
    deadlines,
    echoes,
    errors,
    failing_tests,
    hearsay,
    lookups,
    names,
    options,
    phrases,
    placeholders,
    promises,
    repeated_calls,
    tools,
)

_MODULES = (
    agreed, answers, arguments, attributes, booked, choices, claimed_tests, claims, cut_off, deadlines, echoes, errors,
    failing_tests, hearsay, lookups, names, options, phrases, placeholders, promises, repeated_calls, tools,
)  # fmt: skip

DETECTORS = tuple(module.DETECTOR for module in _MODULES)
