"""Handlers fed with events exactly as AWS sends them, over stages in memory."""
