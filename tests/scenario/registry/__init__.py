"""What owners do to their jobs, told on a store in memory."""
