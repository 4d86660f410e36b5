"""What holds for every test: no AWS account, settled randomness (pyproject.toml keeps it on loopback)."""

from __future__ import annotations

import os

import hypothesis
import pytest

_NO_ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}

pytest_plugins = ["tests.support.engine"]

# New ground in every run, and the same for all workers of one.
SIM_START = int(os.environ.setdefault("SIM_START", str(int.from_bytes(os.urandom(4)))))  # noqa: TID251 - new ground each time

# Before any test module is imported, since some read their settings at import.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(_NO_ACCOUNT)

hypothesis.settings.register_profile("dev", print_blob=True, deadline=None)
hypothesis.settings.register_profile("ci", print_blob=True, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_report_header() -> str:
    """How to draw the same simulated histories again."""
    return f"simulated histories that nobody has seen: SIM_START={SIM_START}"


@pytest.fixture
def sim_start() -> int:
    """The first seed of this run's simulated histories."""
    return SIM_START


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an earlier test or import did to the environment, this test has no AWS account."""
    for name, value in _NO_ACCOUNT.items():
        monkeypatch.setenv(name, value)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs against the wall clock, beside other workers on the same cores, may be repeated once: the report counts
    it. Nothing else is ever repeated.
    """
    for item in items:
        if item.get_closest_marker("live") or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """`--dist loadgroup` deals by `tests.support.sharing`."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from tests.support.sharing import Together

    return Together(config, log)
