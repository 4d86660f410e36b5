"""What a firing costs, counted and measured."""
