"""Holds a share of the ledger to what should have happened."""
