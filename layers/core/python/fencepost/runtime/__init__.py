"""What ties the parts together: settings, the clock, entropy, observability and the composition root."""
