"""Every function fed with the very events that AWS sends."""
