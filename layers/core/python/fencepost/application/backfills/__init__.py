"""Backfills: asked for once, expanded step by step, cancelled at any time."""
