"""Position to picture and picture to position: one file a game on shared board painters and readers."""
