"""Findings as tests of their own, with `--gitleaks-findings`."""
