"""Several scanners at once: threads in memory, processes on the engine."""
