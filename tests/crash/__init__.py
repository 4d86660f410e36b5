"""Every call that a rich story makes, crashed before and after; then new processes, and what must be true at rest."""
