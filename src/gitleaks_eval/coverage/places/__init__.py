"""Usual places of secrets: planted in one repository, scanned, and mapped to the entry or flag that hides each."""
