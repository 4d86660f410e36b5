"""Jobs declared with a stack."""
