"""From verdicts to scores: averages, leniency, agreement and reliability of judges, intervals.

Comparing drops belongs to `gating`.
"""
