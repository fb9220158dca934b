"""Samples of rules and entries: generated, planted in a repository, scanned, and read back."""
