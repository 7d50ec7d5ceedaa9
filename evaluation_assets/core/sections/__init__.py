"""What is analysed without judges, one folder each: sessions, coding work, constraints.

How it is shown belongs to `report`.
"""
