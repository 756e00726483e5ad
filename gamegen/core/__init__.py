"""The contracts: keys, positions, problems, solutions, verdicts, errors."""
