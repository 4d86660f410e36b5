"""The web console: what a team sees of its jobs and executions in a browser."""
