"""Who may start, now."""
