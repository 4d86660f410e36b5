"""From due to delivered."""
