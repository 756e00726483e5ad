"""Everything that loads or calls a neural network."""
