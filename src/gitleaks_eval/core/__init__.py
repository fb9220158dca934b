"""What knows nothing of scanners, scenarios or pytest."""
