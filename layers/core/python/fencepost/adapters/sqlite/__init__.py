"""Store and queues in one file on this machine: what was acknowledged survives a kill at any point."""
