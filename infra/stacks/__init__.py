"""What is deployed together: the store, which outlives deployments; the service; what an account has once."""
