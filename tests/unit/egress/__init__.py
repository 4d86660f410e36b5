"""The egress guard: hostile URLs, hostile names, hostile answers."""
