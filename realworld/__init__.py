"""Photos have no rules: text triples, image pairs, model filters, reasoning text, and people at the end."""
