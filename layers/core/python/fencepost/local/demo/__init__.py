"""The demo: a team with a handful of jobs, and a target on this machine that they call."""
