"""What a stage sets from outside, and how it is told what is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fencepost.application.ports import QueueName
from fencepost.application.store import Table
from fencepost.runtime.settings import Settings, SettingsError

WHOLE = {
    "FENCEPOST_STAGE": "prod",
    "FENCEPOST_SHARDS": "64",
    "FENCEPOST_HORIZON_SECONDS": "240",
    "FENCEPOST_KMS_KEY_ID": "key-1",
    "FENCEPOST_ADMINS": "arn:aws:iam::111122223333:role/ops, arn:aws:iam::111122223333:role/sre",
    **{
        f"FENCEPOST_TABLE_{name}": f"t-{name.lower()}" for name in ("JOBS", "TIMERS", "EXECUTIONS", "CONTROL")
    },
    **{f"FENCEPOST_QUEUE_{name.upper().replace('-', '_')}": f"https://sqs/{name}" for name in QueueName},
}


def test_a_whole_stage_is_read():
    settings = Settings.from_env(WHOLE)
    assert settings.stage == "prod"
    assert (settings.limits.shards, settings.limits.horizon) == (64, timedelta(seconds=240))
    assert settings.tables == {name: f"t-{name}" for name in Table}
    assert settings.queues[QueueName.DEAD_CRITICAL] == "https://sqs/dead-critical"
    assert len(settings.admins) == 2
    assert settings.egress.ports == {443}
    assert settings.no_fire_before is None


def test_a_function_that_lacks_a_queue_starts_all_the_same():
    settings = Settings.from_env({"FENCEPOST_STAGE": "prod", "FENCEPOST_QUEUE_SCAN": "u"})
    assert settings.queues == {QueueName.SCAN: "u"}
    assert settings.kms_key_id is None


def test_after_a_restore_old_timers_are_named():
    settings = Settings.from_env(WHOLE | {"FENCEPOST_NO_FIRE_BEFORE": "2026-03-01T00:00:00+01:00"})
    assert settings.no_fire_before == datetime(2026, 2, 28, 23, tzinfo=UTC)


def test_every_fault_is_told_by_the_name_of_its_variable():
    broken = {
        "FENCEPOST_STAGE": " ",
        "FENCEPOST_SHARDS": "many",
        "FENCEPOST_HORIZON_SECONDS": "3600",
        "FENCEPOST_NO_FIRE_BEFORE": "yesterday",
        "FENCEPOST_PORTS": "443,70000",
        "FENCEPOST_ALLOW_PRIVATE": "10.0.0.1/8",
    }
    with pytest.raises(SettingsError) as refused:
        Settings.from_env(broken)
    assert set(refused.value.problems) == set(broken)
    assert "must be a whole number" in refused.value.problems["FENCEPOST_SHARDS"]
    assert "1..14 minutes" in refused.value.problems["FENCEPOST_HORIZON_SECONDS"]
    assert "FENCEPOST_STAGE is not set" in str(refused.value)


def test_a_stage_without_shards_is_refused():
    with pytest.raises(SettingsError, match="FENCEPOST_SHARDS is '0'"):
        Settings.from_env(WHOLE | {"FENCEPOST_SHARDS": "0"})
