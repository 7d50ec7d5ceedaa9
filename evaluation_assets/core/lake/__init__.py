"""Tables: their columns and meanings, and Parquet files that are read and written as streams.

How the rows of a table are computed is in the room of what they say.
"""
