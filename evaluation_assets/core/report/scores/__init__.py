"""Scores in a report: distributions, the lowest, the worst clips with their verdicts."""
