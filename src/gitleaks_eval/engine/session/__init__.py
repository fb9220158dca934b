"""A session: its candidates, targets and workbenches, and the baseline of a comparison."""
