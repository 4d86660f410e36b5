"""The client library, by example."""
