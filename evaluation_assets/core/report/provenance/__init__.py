"""Provenance: from a figure of a report back to the verdicts and the bytes that it comes from."""
