"""What a coding agent did in a session: edits, tests, commands, reads, and how the user took it. No model is asked."""
