"""Stories of tick, scan and claim."""
