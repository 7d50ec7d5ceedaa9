"""Texts: made safe to show and to store, cut, masked, counted, searched for many patterns at once.

What a text means (a trace, a prompt, a report) belongs to the room of that meaning. Imports nothing of ours.
"""
