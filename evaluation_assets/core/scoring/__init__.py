"""From verdicts to scores: averages, leniency and agreement of judges, intervals.

Comparing drops is in `gating`.
"""
