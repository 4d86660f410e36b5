"""The HTTP front door of one machine: verifies signatures, asks the callers' policies, and calls the API function."""
