"""The command line, piece by piece."""
