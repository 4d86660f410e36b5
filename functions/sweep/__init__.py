"""The daily second net."""
