"""Accepted losses: what `gitleaks-eval accept` asks and writes, and which failures are expected."""
