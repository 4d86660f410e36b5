"""Kubernetes CronJobs. What a pod does cannot be called from afar: the job calls a runner, which is told which one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from fencepost.cli.imports.carried import Cargo

_OVERLAPS = {"Allow": "allow", "Forbid": "skip", "Replace": "allow"}
_DAY = 86_400


def read_kubernetes(documents: Iterable[object], target: Mapping[str, Any], now: datetime) -> Cargo:
    """The CronJobs among some manifests, all for `target`."""
    cargo = Cargo()
    for manifest in _manifests(documents):
        metadata = _mapping(manifest.get("metadata"))
        name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace", "default"))
        where = f"{namespace}/{name}"
        if manifest.get("kind") != "CronJob":
            cargo.leave(where, str(manifest.get("kind")), "only CronJobs are schedules")
            continue
        spec = _mapping(manifest.get("spec"))
        pod = _pod(spec)
        job = {"schedule": _schedule(spec), "target": dict(target), "payload": _payload(namespace, name, pod)}
        job |= _policies(spec)
        if namespace != "default":
            job["labels"] = {"namespace": namespace}
        cargo.take(where, name, job, now, _lost(spec, pod))
    return cargo


def _manifests(documents: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    for document in documents:
        if isinstance(document, Mapping) and isinstance(document.get("items"), list):
            yield from _manifests(document["items"])
        elif isinstance(document, Mapping):
            yield document


def _schedule(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Without a zone, a controller's own clock counted: UTC in nearly every cluster."""
    text, zone = str(spec.get("schedule", "")), str(spec.get("timeZone") or "UTC")
    first, _, rest = text.partition(" ")
    if first.startswith(("CRON_TZ=", "TZ=")):
        text, zone = rest.strip(), first.partition("=")[2]
    if text.startswith("@every "):
        return {"every": f"PT{text.removeprefix('@every ').strip().upper()}"}
    return {"cron": text, "timezone": zone}


def _payload(namespace: str, name: str, pod: Mapping[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {"namespace": namespace, "cronjob": name}
    containers = pod.get("containers")
    if isinstance(containers, list) and len(containers) == 1:
        container = _mapping(containers[0])
        payload |= {key: container[key] for key in ("image", "command", "args") if key in container}
    return payload


def _policies(spec: Mapping[str, Any]) -> dict[str, Any]:
    template = _mapping(_mapping(spec.get("jobTemplate")).get("spec"))
    found: dict[str, Any] = {"overlap": _OVERLAPS.get(str(spec.get("concurrencyPolicy", "Allow")), "allow")}
    found["retry"] = {"max_attempts": min(int(template.get("backoffLimit", 6)) + 1, 100)}
    deadline = template.get("activeDeadlineSeconds")
    if deadline:
        found["max_run_seconds"] = max(300, min(int(deadline), 7 * _DAY))
    late = spec.get("startingDeadlineSeconds")
    if late is not None:
        found["misfire"] = {"policy": "run_once_late", "window_seconds": max(60, min(int(late), 31 * _DAY))}
    return found


def _lost(spec: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    if spec.get("suspend"):
        yield "it was suspended: pause it after it is applied"
    if spec.get("concurrencyPolicy") == "Replace":
        yield "concurrencyPolicy Replace: a run is never ended for the next one; it is allow here"
    if spec.get("timeZone") not in {None, "UTC", "Etc/UTC"}:
        yield "when clocks change, a fixed time was skipped or doubled there; it runs once here"
    containers = pod.get("containers")
    if isinstance(containers, list) and len(containers) > 1:
        yield "it has several containers: the runner must know them"
    if any(_mapping(each).get("env") or _mapping(each).get("envFrom") for each in containers or []):
        yield "its environment and secrets: the runner must know them"


def _pod(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    template = _mapping(_mapping(spec.get("jobTemplate")).get("spec")).get("template")
    return _mapping(_mapping(template).get("spec"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
