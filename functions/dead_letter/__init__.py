"""What could not be delivered."""
