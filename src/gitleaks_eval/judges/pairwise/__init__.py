"""The pairwise judge of comparisons: its evidence, and its verdict in both orders."""
