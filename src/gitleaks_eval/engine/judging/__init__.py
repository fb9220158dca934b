"""The judges of a run: their material, the panel, and pairs of candidates."""
