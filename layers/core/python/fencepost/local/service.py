"""The whole service on one machine: engine, workers, gateway, over one data directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from fencepost.local import worker
from fencepost.local.aws_engine import AwsEngine
from fencepost.local.engine import Engine, engine
from fencepost.local.files import DataDir, DataDirError
from fencepost.local.gateway.credentials import Credential, CredentialsFile
from fencepost.local.gateway.gateway import Gateway, Mount
from fencepost.local.gateway.request import Request, Response
from fencepost.local.gateway.server import HttpServer
from fencepost.local.gateway.signature import Verifier
from fencepost.local.identities import DEMO_TEAM, Identities, identities
from fencepost.local.options import LocalOptions, Parts, StoreKind
from fencepost.local.stage import LocalStage
from fencepost.local.workers import Workers
from fencepost.runtime.function import instrumented
from functions.api import handler as api

Tell = Callable[[str], None]


class PortError(Exception):
    """The port cannot be listened on; says why."""


class Page(Mount, Protocol):
    """A web page that the gateway serves beside the API."""

    def entry(self, endpoint: str) -> str:
        """The address that opens it, on a server at `endpoint`."""


MakePage = Callable[[str, Credential, str | None], Page]
"""The page for an endpoint, whose calls are signed with a credential, and which shows a team first."""


@dataclass(kw_only=True)
class LocalService:
    """Begins with `start`, ends with `stop`; what it holds is then finished. `tell` hears what an owner should know.

    `page_of`: makes the page that the gateway serves beside the API.
    """

    options: LocalOptions
    tell: Tell
    page_of: MakePage | None = None
    data: DataDir = field(init=False)
    stage: LocalStage = field(init=False)
    known: Identities = field(init=False)
    page: Page | None = field(init=False, default=None)
    _aws: AwsEngine | None = field(init=False, default=None)
    _locks: list[TextIO] = field(init=False, default_factory=list)
    _engine: Engine | None = field(init=False, default=None)
    _workers: Workers | None = field(init=False, default=None)
    _server: HttpServer | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Takes the data directory and the port, and runs nothing yet; where it raises, nothing is left running.

        Raises DataDirError, EngineError, PortError, CredentialsError, OSError.
        """
        self.data = DataDir.open(self.options.data_dir)
        parts = ("engine", "api") if self.options.parts is Parts.BOTH else (self.options.parts.value,)
        found = AwsEngine.running(self.data.engine)
        try:
            for part in parts:
                self._locks.append(self.data.lock(part))
            self._take(parts)
        except BaseException:
            self._let_go(begun=found is None)
            raise

    def _take(self, parts: tuple[str, ...]) -> None:
        if self.options.store is StoreKind.ENGINE:
            self._aws = AwsEngine.begin(self.data.engine)
        self.stage = LocalStage.open(self.options, self.data)
        keys = CredentialsFile(self.data.credentials)
        self.known = identities(keys)
        if "api" in parts:
            self._server = self._listening(self._gateway(keys))
            if self.page_of is not None:
                team = DEMO_TEAM if self.options.demo else None
                self.page = self.page_of(self._server.url, self.known.admin, team)
        if "engine" in parts:
            self._engine = engine(self.stage, delivers=not self.options.workers)
        if "engine" in parts and self.options.workers:
            told = worker.arguments(self.options)
            self._workers = Workers(self.data, self.options.workers, told, self.tell)

    @property
    def endpoint(self) -> str | None:
        """Where the API answers; None where this process has no gateway."""
        return None if self._server is None else self._server.url

    @property
    def anyone(self) -> Credential | None:
        """Whom unsigned callers are taken for; None where every call is signed."""
        return None if self.options.auth else self.known.admin

    def start(self) -> None:
        """Runs. Messages that a killed process held are let go first: nobody else has this data directory."""
        if self._engine is not None:
            self.stage.release_held()
            if self._workers is not None:
                self._workers.start()
            self._engine.start()
        if self._server is not None:
            self._server.start()
        self.stage.log("service started", data=str(self.data.path), parts=self.options.parts.value)

    def stop(self) -> None:
        """Takes no call and no message more, finishes what it holds, and lets everything go."""
        if self._server is not None:
            self._server.stop()
        for part in (self._engine, self._workers):
            if part is not None:
                part.stop()
        for part in (self._engine, self._workers):
            if part is not None:
                part.drain()
        self.stage.log("service stopped")
        self.stage.close()
        self._let_go(begun=True)

    def _let_go(self, *, begun: bool) -> None:
        """Frees the data directory; an engine that was `begun` here ends, unless another process needs it."""
        if begun and self._aws is not None and self._alone():
            self._aws.stop()
        for lock in self._locks:
            lock.close()

    def _listening(self, gateway: Gateway) -> HttpServer:
        port = self.options.port
        try:
            return HttpServer(gateway.answer, port)
        except OSError as error:
            raise PortError(f"port {port}: {error.strerror}; --port 0 takes a free one") from error

    def _alone(self) -> bool:
        """Whether no other process serves the other half over this data directory."""
        if self.options.parts is Parts.BOTH:
            return True
        other = Parts.API if self.options.parts is Parts.ENGINE else Parts.ENGINE
        try:
            self._locks.append(self.data.lock(other.value))
        except DataDirError:
            return False
        return True

    def _gateway(self, keys: CredentialsFile) -> Gateway:
        stage = self.stage
        return Gateway(
            api=instrumented(api.build(stage, stage.refusals.trouble), stage.observed),
            verifier=Verifier(keys.find, stage.settings.region),
            clock=stage.clock,
            new_id=stage.entropy.token,
            failed=lambda error: stage.log("request failed", why=repr(error)),
            region=stage.settings.region,
            stage=stage.settings.stage,
            anyone=self.anyone,
            mounts=(self._paged,),
        )

    def _paged(self, request: Request) -> Response | None:
        return None if self.page is None else self.page(request)
