"""Texts: made safe to show or store, cut, masked, counted, searched for patterns.

What a text means (a trace, a prompt, a report) is in the room that it belongs to. Imports nothing of ours.
"""
