"""Small agents that record a run in a trace store; each is run as a program, with the store's address and a project."""
