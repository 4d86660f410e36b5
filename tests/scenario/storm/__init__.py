"""Crowds in a timed model: caps, tiers and neighbours under load."""
