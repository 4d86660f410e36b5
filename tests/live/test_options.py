"""What an owner may choose, said plainly at the start and true afterwards; and the README's own calls."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from pathlib import Path
from shutil import which
from urllib.parse import urlsplit

import pytest

from tests.support.live import LiveService

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("live")]
README = (Path(__file__).parents[2] / "README.md").read_text()


def unsigned(service, path):
    connection = http.client.HTTPConnection(urlsplit(service.endpoint).netloc, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def test_without_auth_and_without_a_file_everything_is_said_and_nothing_is_kept(tmp_path):
    service = LiveService(tmp_path / "data", options=("--store", "memory", "--no-auth"))
    with service.running():
        assert unsigned(service, "/v1/health")[0] == 200
    screen = "\n".join(service.output)
    assert "in memory only: everything is gone when this process ends" in screen
    assert "ANYONE on this machine, as administrator, without a signature (--no-auth)" in screen
    assert not (tmp_path / "data" / "fencepost.sqlite").exists()


@pytest.mark.skipif(which("curl") is None, reason="curl is not installed here")
def test_the_readmes_calls_work_with_curl(tmp_path):
    service = LiveService(tmp_path / "data", options=())
    with service.running():
        service.put_team("demo")
        keys = json.loads((service.data / "credentials.json").read_text())[0]

        def curl(*words):
            user = f"{keys['access_key_id']}:{keys['secret_access_key']}"
            command = ["curl", "-sS", "--aws-sigv4", "aws:amz:us-east-1:execute-api", "--user", user, *words]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}
            )
            return json.loads(done.stdout)

        job = f"{service.endpoint}/v1/teams/demo/jobs/nightly"
        body = {
            "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
            "target": {"webhook": {"url": "https://example.com/hook"}},
        }
        assert json.dumps(body) in README, "the README sends the same"
        made = curl("-X", "PUT", job, "-H", "content-type: application/json", "-d", json.dumps(body))
        assert (made["name"], made["state"], len(made["next"])) == ("nightly", "ACTIVE", 5)
        assert curl(job)["uid"] == made["uid"]
        assert unsigned(service, "/v1/teams/demo/jobs/nightly")[0] == 403
