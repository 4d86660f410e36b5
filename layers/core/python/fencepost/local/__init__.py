"""The whole service on one machine: gateway, minute tick and pollers around the very same handlers."""
