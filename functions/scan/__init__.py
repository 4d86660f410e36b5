"""One shard's pass."""
