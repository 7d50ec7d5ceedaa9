"""A drop compared with others: baselines, the gate and its error rates, drift, history.

Scores of one drop belong to `scoring`.
"""
