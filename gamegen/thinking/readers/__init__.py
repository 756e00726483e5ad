"""One file a game: how a stranger's text tells its moves. `tellings(told)` gives every way to understand it."""
