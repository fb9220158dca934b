"""The section of a run or a comparison in the terminal."""
