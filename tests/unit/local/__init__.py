"""The parts of the service on one machine, each by itself."""
