"""The configuration under test: its chain, what in it is idle, which entry hides a secret."""
