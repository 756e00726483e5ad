"""Exact algorithms: one file a game, and the generic search they share."""
