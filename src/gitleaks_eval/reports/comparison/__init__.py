"""The reports of a comparison: comparison.json and comparison.md."""
