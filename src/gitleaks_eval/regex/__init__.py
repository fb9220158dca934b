"""Regexes as RE2 reads them: parsed once, used to generate values and to reason about what they match."""
