"""Judging by models and metrics, and the reports made of it."""
