"""Findings shown to people: to label them, or to try a rule."""
