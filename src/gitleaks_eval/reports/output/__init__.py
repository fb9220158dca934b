"""The output folder: which files there are, and how they are written, read and replaced."""
