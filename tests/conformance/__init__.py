"""One suite per port, run against every adapter: what the port promises holds of all of them, or the test says why not."""
