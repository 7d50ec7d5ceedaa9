"""From files and trace stores to drops, preprocessed trajectories and clips; what starts a run.

Readers of trace formats are in `traces`.
"""
