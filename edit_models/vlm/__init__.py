"""Models that look at pictures and answer in words: behind an endpoint, or on this machine."""
