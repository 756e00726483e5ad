"""From any editor's picture back to cells: lay it onto the board (`register`), undo its colour drift (`colour`),
name every cell (`classify`). Nothing here knows a game, and nothing here ever sees an answer."""
