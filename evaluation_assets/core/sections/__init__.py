"""What is analysed in a drop without a judge, one folder each: sessions, coding work, constraints.

How it is shown is in `report`.
"""
