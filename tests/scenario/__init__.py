"""Stories on a settable clock."""
