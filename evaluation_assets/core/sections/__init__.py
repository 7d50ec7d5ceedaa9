"""What is analysed without judges, one folder each: its rows, and its section of the report with its templates.

The report joins the sections; those of scores, suites and sessions are made there.
"""
