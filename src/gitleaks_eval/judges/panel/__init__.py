"""The panel: all judges of a run asked at once, and their verdicts."""
