"""Labelled truth of others becomes a scenario."""
