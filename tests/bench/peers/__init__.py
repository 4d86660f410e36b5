"""Fencepost's local service beside other schedulers on this machine: as many jobs, one minute boundary, one target.

It says nothing about AWS. `make bench-peers` runs them one after the other and puts the table into the documentation.
"""
