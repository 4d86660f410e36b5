"""Settings and the bill of a stage, from its load."""
