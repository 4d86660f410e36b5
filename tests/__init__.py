"""Fencepost's tests."""
