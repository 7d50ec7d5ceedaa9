"""The section of the gate and of the history of scores; the outcome of the gate for terminals and CI systems.

How the gate decides is in `core/gating`.
"""
