"""What is true of jobs, timers and executions: pure values and decisions, no clock, no AWS, no logging."""
