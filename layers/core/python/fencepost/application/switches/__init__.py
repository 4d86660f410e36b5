"""Switches of teams and of the stage: stored, read with the team, and honoured where something would start."""
