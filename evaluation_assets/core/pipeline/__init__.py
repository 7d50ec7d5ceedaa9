"""The steps of an evaluation: how the rows of each table follow from others, asset checks, the dry run.

The assets that call them belong to `defs`; what one step computes belongs to the room of its subject.
"""
