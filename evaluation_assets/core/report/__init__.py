"""What people read: data, JSON, Markdown, HTML with its viewer, the way back from a figure, sinks.

Figures are computed in the rooms below.
"""
