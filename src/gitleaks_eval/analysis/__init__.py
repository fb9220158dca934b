"""From a scanner's report to a Caldera envelope, and from findings to matches. Pure."""
