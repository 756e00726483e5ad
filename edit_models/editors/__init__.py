"""Image editors behind one small protocol."""
