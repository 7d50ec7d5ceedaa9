"""Test suites: their formats, matching of calls and answers, metrics of cases; agents that are run on them.

Comparing the results of two drops belongs to `gating`.
"""
