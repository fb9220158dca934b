"""The configuration as one build reads it: its files as layers, its rules, and the entries that can hide something."""
