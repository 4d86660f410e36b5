"""The registry's pure parts."""
