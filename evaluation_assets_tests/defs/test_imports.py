"""What is loaded with the definitions: each process does it, those of the UI and of every run too."""

import subprocess
import sys

NEEDED_BY_SOME = {
    "aiohttp",
    "anthropic",
    "genai_prices",
    "httpx2",
    "mcp",
    "openai",
    "pandas",
    "scipy.stats",
    "sklearn",
}


def test_what_few_drops_need_is_not_imported_with_the_definitions() -> None:
    code = f"import sys, evaluation_assets.definitions; print({NEEDED_BY_SOME} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
