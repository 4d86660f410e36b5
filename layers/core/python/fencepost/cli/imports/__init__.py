"""`fencepost import`: what other schedulers hold, as a file of jobs; and what of it could not be carried over."""
