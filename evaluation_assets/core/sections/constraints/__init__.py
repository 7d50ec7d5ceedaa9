"""Constraints: the rules of checks.yaml on the calls, results and answers of a run, checked without a model.

Here belong what a rule may say, whether a run keeps to it, its rows, and its section of the report. Whether a violation
blocks belongs to `pipeline.checks`.
"""
