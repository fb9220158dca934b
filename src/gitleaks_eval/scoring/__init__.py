"""Outcomes and matches become rates, decisions, differences and verdicts. Pure."""
