"""After a point-in-time restore: held until it is recovered, compared with the ledger it replaces, then opened."""
