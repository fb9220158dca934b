"""The kinds of corpora that are known: one file for each, which says all that is its own, as `KIND`."""
