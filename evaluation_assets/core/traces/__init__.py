"""Trajectories: their data model, a reader for each trace format, writers, and what recorded tokens cost.

What is done to a trajectory after it was read belongs to `intake`. May become a package of its own.
"""
