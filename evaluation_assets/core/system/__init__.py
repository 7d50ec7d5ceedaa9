"""The process and the machine: signals, threads, files, settings files, plugins, the paths of an installation.

Nothing here knows what is evaluated.
"""
