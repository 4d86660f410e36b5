"""AWS over the wire: the few calls that every firing makes, without an SDK between us and the socket."""
