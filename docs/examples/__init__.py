"""Examples for those who receive Fencepost's calls: to copy, since they import nothing of Fencepost."""
