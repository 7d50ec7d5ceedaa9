"""Tables: their columns with meanings, and Parquet files that are read and written as streams.

How rows are computed, and their codecs, belong to the room of what they say.
"""
