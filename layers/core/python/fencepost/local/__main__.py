"""``python -m fencepost.local``: the demo, or what the arguments of `fencepost local` ask for."""

from __future__ import annotations

import sys

from fencepost.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["local"]
    main()
