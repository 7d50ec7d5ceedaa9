"""Finding runs: by words, by likeness, and in the list of reports."""
