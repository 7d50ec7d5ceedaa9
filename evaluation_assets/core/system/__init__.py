"""The process and the machine: signals, threads, files, settings files, installed plugins, paths of an installation.

Nothing here knows what is evaluated.
"""
