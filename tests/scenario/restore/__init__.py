"""An old copy of a store comes back: what has fired stays fired, what is unfinished goes on, nothing is unexplained."""
