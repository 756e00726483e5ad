"""A sample at hand: step through its solution, or try moves under the rules. Only `window` needs pygame."""
