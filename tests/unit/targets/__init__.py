"""Calling targets and telling teams: webhooks, AWS services, notifications."""
