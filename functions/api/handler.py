"""Answers the HTTP API: API Gateway sends each request as a proxy event."""

from __future__ import annotations

from typing import Any

from fencepost.adapters.api.app import Api
from fencepost.adapters.api.services import Trouble, no_trouble
from fencepost.runtime import api as composing
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import SecretiveStage


def build(stage: SecretiveStage, trouble: Trouble = no_trouble) -> Handler:
    """The handler over `stage`; `trouble` is what its health tells besides."""
    api = Api(composing.services(stage, trouble=trouble))

    def handle(event: Event, context: object) -> dict[str, Any]:
        return api(event, context)

    return handle


handler = on_lambda(build)
