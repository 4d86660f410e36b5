"""List prices that the dashboard and the documents reckon with: us-east-1, US dollars, as published in August 2026."""

from __future__ import annotations

WRITE_UNIT = 0.625e-6
READ_UNIT = 0.125e-6
QUEUE_REQUEST = 0.40e-6
INVOCATION = 0.20e-6
GIGABYTE_SECOND = 0.0000133334
POLLER_MONTH = 6.75
ALARM_MONTH = 0.10
COMPOSITE_MONTH = 0.50
METRIC_MONTH = 0.30
DASHBOARD_MONTH = 3.00
KEY_MONTH = 1.00
