"""A pass over a waiting team."""
