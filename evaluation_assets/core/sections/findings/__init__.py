"""Findings: what went wrong in a run, where, and who says so.

Here belong the vocabulary of kinds, the detectors that read trajectories, and what gathers the findings of other
sections. Scores, and what people conclude from findings over drops, do not.
"""
