"""The scanners that are known: one file for each, which says all that is its own, as `ADAPTER`."""
