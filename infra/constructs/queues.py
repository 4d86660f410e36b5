"""The stage's queues. Fairness between teams needs no declaration: it is the group id on what is sent."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.names import PASSES, TIERS, Names

DELIVERY_VISIBILITY = 300
PASS_VISIBILITY = 360
MAX_RECEIVES = 6
"""Spent by crashes alone: whatever is put back on purpose is sent anew before."""
PASS_LIFE = cdk.Duration.minutes(15)
LIFE = cdk.Duration.days(14)
"""A dead letter's age counts from its first sending, so both queues keep it as long as a queue can."""


class Queues(Construct):
    """A queue and a dead-letter queue per tier, and the two that hand work to scan and pump."""

    def __init__(self, scope: Construct, name: str, names: Names, key: kms.IKey | None) -> None:
        super().__init__(scope, name)
        self._names = names
        self._key = key
        for tier in TIERS:
            dead = self._queue(f"dead-{tier}", DELIVERY_VISIBILITY, LIFE)
            letters = sqs.DeadLetterQueue(queue=dead, max_receive_count=MAX_RECEIVES)
            self._queue(tier, DELIVERY_VISIBILITY, LIFE, letters)
        for work in PASSES:
            # A lost pass is sent again by the next tick, so an old one is worth nothing.
            self._queue(work, PASS_VISIBILITY, PASS_LIFE)

    def _queue(
        self, queue: str, visibility: int, life: cdk.Duration, letters: sqs.DeadLetterQueue | None = None
    ) -> sqs.Queue:
        managed = sqs.QueueEncryption.SQS_MANAGED
        return sqs.Queue(
            self,
            queue.title().replace("-", ""),
            queue_name=self._names.queue(queue),
            visibility_timeout=cdk.Duration.seconds(visibility),
            retention_period=life,
            dead_letter_queue=letters,
            encryption=managed if self._key is None else sqs.QueueEncryption.KMS,
            encryption_master_key=self._key,
            data_key_reuse=None if self._key is None else cdk.Duration.hours(1),
            enforce_ssl=True,
        )
