"""The environment of the tests: what the caller's shell sets changes no result."""

from collections.abc import MutableMapping

OWN = ("EVALUATION_TEST_",)
"""Variables that only the tests read: where optional servers of models are."""

PREFIXES = (
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "BEDROCK_",
    "DAGSTER_",
    "EVALUATION_",
    "GEMINI_",
    "GITHUB_",
    "GOOGLE_",
    "LANGCHAIN_",
    "LANGFUSE_",
    "LANGSMITH_",
    "MLFLOW_",
    "OPENAI_",
    "OPENROUTER_",
    "OTEL_",
    "PHOENIX_",
)
SUFFIXES = ("_API_KEY", "_AUTH_TOKEN", "_PROXY")
NAMES = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def is_foreign(name: str) -> bool:
    """Whether a variable could change what a test sees: settings, keys, proxies, options of pytest."""
    upper = name.upper()
    return not upper.startswith(OWN) and (upper.startswith(PREFIXES) or upper.endswith(SUFFIXES) or upper in NAMES)


def clear(environment: MutableMapping[str, str]) -> None:
    """Remove the caller's variables; workers of pytest-xdist and subprocesses of tests inherit what is left."""
    for name in filter(is_foreign, list(environment)):
        del environment[name]
