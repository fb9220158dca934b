"""Repositories: written, cached, cloned, read; git is asked in one clean environment."""
