"""The front door of one machine: signatures, policies, events, sockets."""
