"""List prices, US dollars, us-east-1. The one place that knows them; read the sources again before quoting a figure.

AWS: the price list files of 28 August 2025 (SQS), 29 May 2026 (EventBridge), 20 July 2026 (data transfer), 6 August 2026
(CloudWatch) and 15 August 2026 (DynamoDB), and the Lambda price page of 2026, all by transcriptions of others.
"""

from __future__ import annotations

AS_OF = "August 2026"
HOURS_A_MONTH = 730
SECONDS_A_MONTH = 30 * 86_400

# DynamoDB, standard tables.
WRITE_UNIT = 0.625e-6
READ_UNIT = 0.125e-6
WRITE_CAPACITY_HOUR = 0.00065  # by a third party that quotes the price page
READ_CAPACITY_HOUR = 0.00013  # the same
STORED_GIGABYTE_MONTH = 0.25
STORED_GIGABYTES_FREE = 25
RECOVERY_GIGABYTE_MONTH = 0.20

# SQS, standard queues: whatever carries a message group costs a little more; on which requests is not documented.
QUEUE_REQUEST = 0.40e-6
FAIR_QUEUE_REQUEST = 0.10e-6
QUEUE_REQUESTS_FREE = 1_000_000

# Lambda on arm64, and provisioned pollers of an event source.
INVOCATION = 0.20e-6
GIGABYTE_SECOND = 0.0000133334
POLLER_MONTH = 6.75

# CloudWatch.
LOGGED_GIGABYTE = 0.50
METRIC_MONTH = 0.30
ALARM_MONTH = 0.10
COMPOSITE_MONTH = 0.50
DASHBOARD_MONTH = 3.00

KEY_MONTH = 1.00  # KMS; recalled, not verified
EGRESS_GIGABYTE = 0.09
EGRESS_GIGABYTES_FREE = 100

# What others take. EventBridge Scheduler from AWS's price list; the rest from copies of the vendors' pages.
SCHEDULER_INVOCATION = 1.00e-6
SCHEDULER_INVOCATIONS_FREE = 14_000_000
QSTASH_MESSAGE = 1.00 / 100_000
QSTASH_ACTIVE_SCHEDULE = 0.01
QSTASH_SCHEDULES_FREE = 1_000
TEMPORAL_TIERS = (
    (5_000_000, 50e-6),
    (5_000_000, 45e-6),
    (10_000_000, 40e-6),
    (30_000_000, 35e-6),
    (50_000_000, 30e-6),
    (100_000_000, 25e-6),
)
TEMPORAL_LAST_TIER = (
    25e-6  # beyond 200 million the price is a matter of talks: this is the last one that is listed
)
TEMPORAL_ACTIONS = 4  # a schedule's start counts as three, an activity as one
