"""Outcomes: how likely a run without a recorded outcome has succeeded, learned from runs with one.

Here belong what a model is shown of a run, how it is fitted, and how far it can be trusted. Reading tables, and what
people do about a likely failure, do not.
"""
