"""What is planted and what must be found."""
