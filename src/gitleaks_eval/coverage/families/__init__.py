"""Families of probes that know nothing of the scanner's rules: what providers document, and what only looks so."""
