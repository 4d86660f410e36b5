"""The minute's wake-up."""
