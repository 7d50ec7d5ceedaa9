"""The section of a suite: cases, calls against test cases, failure patterns.

How calls are matched and scored is in `core/suites`.
"""
