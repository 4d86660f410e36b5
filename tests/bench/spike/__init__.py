"""Spikes, simulated: real claims, then a model of queues, pollers, functions, tables and targets.

What AWS documents is in `parameters`, with what had to be assumed beside it. A model proves nothing about AWS; it shows
what the settings of a stage do to lateness, and which part gives way first.
"""
