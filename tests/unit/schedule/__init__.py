"""When a job fires."""
