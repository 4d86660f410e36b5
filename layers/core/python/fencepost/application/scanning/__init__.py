"""From timers to executions in queues: tick, scan, claim, enqueue, watermark, second net."""
