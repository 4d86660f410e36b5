"""The synthesised templates on this machine: the local AWS engine takes them as an account would, signatures and
permissions checked, and runs the packaged functions."""

from __future__ import annotations
