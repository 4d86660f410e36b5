"""Tests of one unit each, without a process or a socket."""
