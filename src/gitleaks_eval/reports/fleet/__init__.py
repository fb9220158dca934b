"""The reports about many repositories: rows, shards, and their totals."""
