"""Which rules fire, on samples of the user's rules, of the scanner's own, and on lines that users write."""
