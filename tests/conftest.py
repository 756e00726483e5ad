"""For all tests: hypothesis without a clock, so that a busy machine fails nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("gamegen", deadline=None)
settings.load_profile("gamegen")
