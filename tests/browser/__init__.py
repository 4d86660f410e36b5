"""The console in a browser: real clicks against the local service."""
