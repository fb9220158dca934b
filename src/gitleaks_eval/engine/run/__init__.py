"""A run from beginning to end: its checks, its reports, and why it fails."""
