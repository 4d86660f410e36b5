"""Deterministic simulation of the whole service: one seed, one history, under faults, with independent checkers."""
