"""The section of sessions with several agents, by issue, agent and course.

How a session is analysed is in `core/sections/sessions`.
"""
