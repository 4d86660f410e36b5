"""Store and queues in this process's memory: the reference for what the ports promise, and the tests' engine."""
