"""The HTTP API: one table of routes, thin functions from requests to use cases and back, problems for refusals."""
