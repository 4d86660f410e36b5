"""The HTTP API's pure parts."""
