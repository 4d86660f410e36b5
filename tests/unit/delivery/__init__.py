"""Delivery's pure parts."""

from __future__ import annotations
