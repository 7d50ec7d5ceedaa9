"""The section of failure groups, in a drop and in a suite.

How findings become groups is in `core/sections/failure_groups`.
"""
