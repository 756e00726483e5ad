"""One file a game: what a position is, which actions are legal, what can be asked of it."""
