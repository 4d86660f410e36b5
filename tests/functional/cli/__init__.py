"""The command line over the real API."""
