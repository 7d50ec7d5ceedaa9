"""Judges and their verdicts: panel, rubrics, subjects, prompts, replies, rules, canary clips, cascade.

What follows from several verdicts is in `scoring`.
"""
