"""`python -m evaluation_assets.cli`."""

from evaluation_assets.cli.main import main

main()
