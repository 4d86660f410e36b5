"""A worker process: delivers from the queues of a data directory until it is told to stop, or its parent is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from fencepost.local.engine import deliverer
from fencepost.local.files import DataDir
from fencepost.local.options import LocalOptions, StoreKind
from fencepost.local.stage import LocalStage

LOOK_EVERY = 0.5


def main(arguments: list[str]) -> int:
    """`arguments`: the data directory, the store's kind, and whether private targets may be called (``private`` or
    ``public``)."""
    path, store, egress = arguments
    private = egress == "private"
    options = LocalOptions(data_dir=Path(path), store=StoreKind(store), allow_private_targets=private)
    told = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us too; the parent says when to stop
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    data = DataDir.open(options.data_dir)
    stage = LocalStage.open(options, data, data.worker(os.getpid()))
    engine = deliverer(stage)
    parent = os.getppid()
    engine.start()
    while not told.wait(LOOK_EVERY) and os.getppid() == parent:
        continue
    engine.stop()
    engine.drain()
    stage.close()
    return 0


def arguments(options: LocalOptions) -> tuple[str, ...]:
    """What `main` has to be given to serve `options`."""
    return str(options.data_dir), options.store.value, "private" if options.private_targets else "public"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
