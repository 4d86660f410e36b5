"""The command line `fencepost`, a thin layer over the API."""
