"""The local service end to end, in real time: a process, its sockets, a real target."""
