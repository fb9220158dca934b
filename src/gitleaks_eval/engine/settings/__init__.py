"""The settings of a run, from options, ini files and tables of candidates."""
