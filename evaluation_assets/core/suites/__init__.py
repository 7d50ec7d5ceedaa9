"""Test suites: cases, their formats, matching of calls and answers, metrics; and the agents that are run on them.

Comparing the results of two drops is in `gating`.
"""
