"""Trajectories: the model of what agents did, the readers of all trace formats, and the writers.

What is done to a trajectory after it was read is in `intake`.
"""
