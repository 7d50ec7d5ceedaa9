"""What findings mean for a drop: what to look at first, the process score, counts over drops, planted faults.

The findings and their section are in `core/sections/findings`.
"""
