"""The registry: teams and jobs, who changed them and when, and what became of their firings."""
