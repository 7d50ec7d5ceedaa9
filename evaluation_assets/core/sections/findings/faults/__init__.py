"""Planted faults: copies of runs with one known fault each, and controls that change nothing of meaning.

Here belong the operators, and the edits of trajectories that they are made of. How well judges and detectors notice the
faults is measured in `pipeline`.
"""
