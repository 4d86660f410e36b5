"""From a wake-up to the final record: judge, hold, lease, call, record, retry, bury, tell."""
