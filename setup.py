"""For tools that still look for a setup.py; everything is in pyproject.toml."""

from setuptools import setup

setup()
