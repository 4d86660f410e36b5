"""Fencepost: cron as a service, on time, exactly one owner per firing, and proven afterwards."""
