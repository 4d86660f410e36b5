"""The use cases, each one function over the ports, with the caller and `now` as arguments."""
