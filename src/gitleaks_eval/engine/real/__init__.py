"""Real repositories compared: the differences of two candidates, and the entries that cause them."""
