"""Audits: what should have happened to a job, a team or a share of the stage, held to the ledger."""
