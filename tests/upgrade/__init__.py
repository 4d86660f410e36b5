"""Versions beside each other: fixtures of what releases wrote, and older code that meets what a later one wrote."""
