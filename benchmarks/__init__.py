"""Measurements that anybody can repeat; each file runs with `python -m benchmarks.NAME`."""
