"""Findings: what went wrong in a run, where, and who says so.

Here belong what a finding is, and the faults that are planted to measure how well they are found. Scores, and what
people conclude from findings over drops, do not.
"""
