"""How history grows, and what goes when."""
