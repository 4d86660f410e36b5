"""The HTTP API, from event to answer."""
