"""Comparing a drop with others: baselines, the gate and its error rates, drift, history."""
