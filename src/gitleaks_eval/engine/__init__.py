"""Evaluates candidates on subjects. Knows no pytest."""
