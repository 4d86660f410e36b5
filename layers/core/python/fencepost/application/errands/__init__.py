"""Errands: work of more than one step, written down before it begins and run step by step until it is done."""
