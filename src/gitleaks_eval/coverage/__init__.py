"""What a verdict speaks for: rules, places and entries."""
