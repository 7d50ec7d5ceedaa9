"""All detectors. To remove one, delete its module and its line here."""

from evaluation_assets.core.sections.findings.detectors import (
    agreed,
    answers,
    arguments,
    booked,
    claimed_tests,
    claims,
    cut_off,
    echoes,
    errors,
    failing_tests,
    names,
    options,
    phrases,
    promises,
    repeated_calls,
    tools,
)

DETECTORS = (
    agreed.DETECTOR,
    answers.DETECTOR,
    arguments.DETECTOR,
    booked.DETECTOR,
    claimed_tests.DETECTOR,
    claims.DETECTOR,
    cut_off.DETECTOR,
    echoes.DETECTOR,
    errors.DETECTOR,
    failing_tests.DETECTOR,
    names.DETECTOR,
    options.DETECTOR,
    phrases.DETECTOR,
    promises.DETECTOR,
    repeated_calls.DETECTOR,
    tools.DETECTOR,
)
