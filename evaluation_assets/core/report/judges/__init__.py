"""The section of judges: outcomes, agreement, samples, cascades.

How agreement is computed is in `core/scoring`.
"""
