"""The Lambda handlers: each parses an event, calls one use case and translates its answer."""
