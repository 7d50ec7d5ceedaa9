"""The steps of an evaluation in their order: how the rows of each table follow from others, checks, the dry run.

The assets that call them are in `defs`.
"""
