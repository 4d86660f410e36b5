"""The console's server: who gets in, and what is passed on."""
