"""From files and trace stores to drops, preprocessed trajectories and clips; what asks for a run.

The readers of trace formats belong to `traces`.
"""
