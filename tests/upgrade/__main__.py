"""Records the fixtures of the present version: ``python -m tests.upgrade``.

Those of a version that has been released stay as they are; a shape that changes after it belongs to the next version.
"""

from __future__ import annotations

from tests.upgrade.shelf import FIXTURES, present, recorded, write

if __name__ == "__main__":
    made = recorded()
    write(made)
    print(f"{len(made)} files in {FIXTURES / present()}")
