"""The lint of the configuration under test: a pytest test for each candidate that has one."""
