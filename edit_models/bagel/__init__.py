"""BAGEL: think, then draw."""
