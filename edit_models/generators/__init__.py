"""Text-to-image generators behind one small protocol."""
