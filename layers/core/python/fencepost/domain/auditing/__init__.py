"""What should have happened, worked out anew from a job's history, and where the ledger says otherwise. Pure."""
