"""What a run holds, for detectors to compare: its course, values in texts and results, words with a meaning."""
