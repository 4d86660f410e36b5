"""Audits: silent on what is right, loud about what is not."""
