"""Chat conversations inside the results of other programs, one module for each program."""
