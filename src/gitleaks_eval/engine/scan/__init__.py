"""Scans by a candidate, with its findings masked and analysed."""
