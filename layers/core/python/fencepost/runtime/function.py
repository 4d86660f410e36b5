"""How a handler becomes a function: composed once per process, its metrics written after every event."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fencepost.runtime.events import Event
from fencepost.runtime.observability import Observability
from fencepost.runtime.stage import Stage

if TYPE_CHECKING:
    from fencepost.runtime.aws import AwsStage

Handler = Callable[[Event, Any], Any]
Build = Callable[[Stage], Handler]


def instrumented(handler: Handler, observed: Observability) -> Handler:
    """`handler`, with the request's id on every log line; what it counted is written whatever becomes of it."""

    def handle(event: Event, context: Any) -> Any:  # noqa: ANN401 - the shapes are AWS's
        request = getattr(context, "aws_request_id", None)
        if request is not None:
            observed.logger.append_keys(request=request)
        try:
            return handler(event, context)
        except Exception:
            observed.logger.exception("event failed")
            raise
        finally:
            observed.telemetry.flush()

    return handle


def on_lambda(build: Callable[[AwsStage], Handler]) -> Handler:
    """The entry point of a deployed function: composed while Lambda initialises it, elsewhere at the first event.

    Raises SettingsError then, so that a stage that is set up wrongly fails at its first start and says why.
    """
    composed: list[Handler] = []
    lock = threading.Lock()

    def compose() -> Handler:
        from fencepost.runtime.aws import AwsStage  # noqa: PLC0415 - the other stages load no AWS client

        with lock:
            if not composed:
                stage = AwsStage.from_env()
                composed.append(instrumented(build(stage), stage.observed))
            return composed[0]

    def handle(event: Event, context: Any) -> Any:  # noqa: ANN401 - the shapes are AWS's
        return compose()(event, context)

    if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
        compose()
    return handle
